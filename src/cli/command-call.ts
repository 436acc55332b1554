/** `cao command`: a command of the agent's own program, such as `/compact`. */
import { AppError } from '../domain/errors.ts'
import { inputWaitMaxS } from '../protocol/version.ts'
import type { Command } from './command.ts'
import { flagOption, numberOption, requireTerminalId, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'
import { formatSent } from './send.ts'

export const commandCommand: Command = {
  usage: `cao command TERMINAL COMMAND [--timeout S] [--json]

  COMMAND is one of the agent's own program, such as /compact; with arguments in quotes: "/model large".
  It is typed when the agent rests. Exit code 0: it left the composer (what it did is on the screen);
  9: refused; 12: not known, or it still waits.
  --timeout S  how long to wait (${inputWaitMaxS})`,
  options: { timeout: { type: 'string', isNumber: true } },
  async run({ options, positionals, context }) {
    const { TERMINAL = '', COMMAND: command = '' } = takePositionals(positionals, ['TERMINAL', 'COMMAND'])
    const id = requireTerminalId(TERMINAL)
    const waitS = Math.min(numberOption(options, 'timeout') ?? inputWaitMaxS, inputWaitMaxS)
    const client = await context.openClient()
    const sent = await client.sendCommand(id, { command, wait_s: waitS }, { signal: context.signal })
    if (flagOption(options, 'json')) await printJson(context, sent)
    else if (sent.status === 'delivered') await printLine(context, formatSent(sent))
    if (sent.status === 'delivered') return 0
    const look = `look with "cao output ${id} --mode screen"`
    throw new AppError(sent.status === 'failed' ? 'BLOCKED' : 'TIMEOUT', `${formatSent(sent)}; ${look}`)
  },
}
