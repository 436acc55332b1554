/** `cao send`: types a message into an agent, and says by what proof it arrived. */
import { AppError } from '../domain/errors.ts'
import type { SentBody } from '../protocol/message.ts'
import { cleanLine } from './clean-text.ts'
import type { Command } from './command.ts'
import { flagOption, numberOption, takePositionals } from './parse-call.ts'
import { printJson, printLine } from './print.ts'

export const sendCommand: Command = {
  usage: `cao send TERMINAL MESSAGE|- [--timeout S] [--json]

  MESSAGE is typed as it is, in one paste, and submitted once. "-" reads it from stdin, to the last byte.
  The command waits until the agent has taken it. Exit code 0: taken; 9: refused, nothing was typed;
  12: typed, and whether the agent took it is not known.
  --timeout S  how long to wait (300)`,
  options: { timeout: { type: 'string' } },
  takesText: true,
  async run({ options, positionals, context }) {
    const { TERMINAL: id = '', MESSAGE: given = '' } = takePositionals(positionals, ['TERMINAL', 'MESSAGE'])
    const message = given === '-' ? await context.readStdin() : given
    if (message === '') throw new AppError('BAD_REQUEST', 'the message is empty; nothing was sent')
    const timeoutS = numberOption(options, 'timeout')
    const client = await context.openClient()
    const sent = await client.sendInput(
      id,
      { message, sender_id: 'user' },
      { signal: context.signal, timeoutMs: timeoutS === undefined ? undefined : timeoutS * 1000 },
    )
    if (flagOption(options, 'json')) await printJson(context, sent)
    else if (sent.status === 'delivered') await printLine(context, formatSent(sent))
    if (sent.status === 'delivered') return 0
    throw describeDoubt(sent, id)
  },
}

export function formatSent({ message_id, state, detail }: SentBody): string {
  return `message ${message_id} ${state}${detail === null || detail === '' ? '' : ` (${cleanLine(detail)})`}`
}

function describeDoubt(sent: SentBody, id: string): AppError {
  const look = `look with "cao output ${id} --mode screen" and "cao explain ${id}"`
  if (sent.status === 'failed') return new AppError('BLOCKED', `${formatSent(sent)}; ${look}`)
  const wasTyped = sent.state === 'typed' || sent.state === 'unconfirmed'
  const known = wasTyped ? 'it was typed, and nothing proves yet that the agent took it' : 'it waits for the agent'
  return new AppError('TIMEOUT', `${formatSent(sent)}: ${known}; ${look} before you send it again`)
}
