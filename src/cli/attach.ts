/** `cao attach`: puts the person in front of an agent's own terminal. */
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import { parseTerminalId } from '../domain/ids.ts'
import type { CliContext, Command } from './command.ts'
import { flagOption, takePositionals } from './parse-call.ts'
import { formatCommandLine, printJson, printLine } from './print.ts'

export const attachCommand: Command = {
  usage: `cao attach TERMINAL|SESSION

  Detach with Ctrl-b d; the agent goes on. Where there is no terminal, the command to run in one is printed.
  --json  print the command as JSON instead of running it`,
  options: {},
  async run({ options, positionals, context }) {
    const { TERMINAL: target = '' } = takePositionals(positionals, ['TERMINAL'])
    const client = await context.openClient()
    const id = await findTerminal(client, target)
    const { argv } = await client.attachArgv(id)
    if (flagOption(options, 'json')) {
      await printJson(context, { terminal_id: id, argv })
      return 0
    }
    return attachTo(context, argv)
  },
}

/** Runs the attach command, or prints it where there is no terminal to run it in. */
export async function attachTo(context: CliContext, argv: readonly string[]): Promise<number> {
  if (context.isTerminal.stdin && context.isTerminal.stdout) return context.runProgram(argv)
  await printLine(context, formatCommandLine(argv))
  return 0
}

/** The terminal of that id, or the first living one of that session. Errors: NOT_FOUND. */
export async function findTerminal(client: Client, target: string): Promise<string> {
  const id = parseTerminalId(target)
  if (id !== undefined) {
    const terminals = await client.listTerminals()
    if (terminals.some((terminal) => terminal.id === id)) return id
  }
  const name = target.startsWith('cao-') ? target : `cao-${target}`
  const { terminals } = await client.getSession(name).catch((error: unknown) => {
    if (!(error instanceof AppError) || (error.code !== 'NOT_FOUND' && error.row.httpStatus !== 400)) throw error
    throw new AppError('NOT_FOUND', `no agent and no session is called ${target}; "cao ls" lists them`)
  })
  const terminal = terminals.find(({ life }) => life === 'live') ?? terminals[0]
  if (terminal === undefined) throw new AppError('NOT_FOUND', `the session ${name} has no agent`)
  return terminal.id
}
