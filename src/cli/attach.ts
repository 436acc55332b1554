/** `cao attach`: puts the person in front of an agent's own terminal. */
import { execFile } from 'node:child_process'
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import { parseSessionName, parseTerminalId } from '../domain/ids.ts'
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
    if (parseTerminalId(target) === undefined && parseSessionName(target) === undefined) {
      throw new AppError('BAD_REQUEST', `${JSON.stringify(target)} names no agent and no session; "cao ls" lists them`)
    }
    if (!flagOption(options, 'json')) await requireScreen(context)
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

/** A terminal of this machine's list answers at once. Units: ms. */
const tputLimitMs = 5_000

const hasScreen = ({ isTerminal }: CliContext): boolean => isTerminal.stdin && isTerminal.stdout

/**
 * Before anything is started for it: tmux can draw on the person's terminal, if there is one. Errors: BAD_REQUEST.
 * Source: terminfo(5), `clear`, without which tmux does not attach; tput(1) for the exit code.
 */
export async function requireScreen(context: CliContext): Promise<void> {
  if (!hasScreen(context)) return
  const type = context.env['TERM'] ?? ''
  if (type !== '' && (await canClear(type))) return
  throw new AppError(
    'BAD_REQUEST',
    `tmux can not draw on a terminal of the type TERM=${JSON.stringify(type)}; set what yours is, for example TERM=xterm-256color`,
  )
}

/** True where nobody can be asked: tmux says it then. */
function canClear(type: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('tput', ['-T', type, 'clear'], { timeout: tputLimitMs }, (error) => {
      resolve(typeof error?.code !== 'number')
    })
  })
}

/** Runs the attach command, or prints it where there is no terminal to run it in. */
export async function attachTo(context: CliContext, argv: readonly string[]): Promise<number> {
  if (hasScreen(context)) return context.runProgram(argv)
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
