/** `cao logs`: the server's log, or all that an agent has printed, read where they lie: also while no server runs. */
import { join } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { cleanLine } from './clean-text.ts'
import type { CliContext, Command } from './command.ts'
import { HarmlessLines } from './harmless-lines.ts'
import { toHomeFault } from './home-fault.ts'
import { tailFile } from './log-tail.ts'
import { flagOption, numberOption, requireTerminalId, takePositionals } from './parse-call.ts'
import { printLine } from './print.ts'

const linesDefault = 100
const linesMax = 100_000
/** Enough of the end for so many lines. Units: bytes. */
const bytesPerLine = 512
const bytesMin = 256 * 1024

export const logsCommand: Command = {
  usage: `cao logs [server|TERMINAL] [--follow] [--lines N] [--json]

  server     the server's log (this is the default); TERMINAL: what this agent has printed, line by line, without what
             would move a cursor ("cao output" prints its answer, "cao attach" shows its screen)
  --follow   go on with what comes, until Ctrl-C
  --lines N  how many of the last lines (${linesDefault})
  --json     one JSON value a line: the objects of the server's log, the lines of an agent as strings`,
  options: { follow: { type: 'boolean' }, lines: { type: 'string', isNumber: true } },
  async run({ options, positionals, context }) {
    const { WHAT = 'server' } = takePositionals<'WHAT'>(positionals, [], ['WHAT'])
    const lines = numberOption(options, 'lines', { isWhole: true, most: linesMax }) ?? linesDefault
    const isServer = WHAT === 'server'
    const { layout } = context
    const path = isServer ? layout.serverLog : join(layout.terminalsDir, requireTerminalId(WHAT), 'output.log')
    const format = formatter(isServer, flagOption(options, 'json'))
    try {
      await show(context, { path, lines, isFollowing: flagOption(options, 'follow'), format })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw toHomeFault(error, layout.home)
      const missing = isServer ? `no server has run for ${layout.home}` : `there is no terminal ${WHAT}`
      throw new AppError('NOT_FOUND', `${missing}, or its log is gone`)
    }
    return 0
  },
}

type Showing = {
  readonly path: string
  readonly lines: number
  readonly isFollowing: boolean
  readonly format: (line: string) => string | undefined
}

async function show(context: CliContext, { path, lines, isFollowing, format }: Showing): Promise<void> {
  const { clock, signal } = context
  const harmless = new HarmlessLines()
  const wanted = Math.max(bytesMin, lines * bytesPerLine)
  const print = async (some: readonly string[]) => {
    for (const line of some) {
      const shown = format(line)
      if (shown !== undefined) await printLine(context, shown)
    }
  }
  let last: string[] | undefined = []
  for await (const chunk of tailFile({ path, bytes: wanted, isFollowing, clock, signal })) {
    if (last === undefined) await print(harmless.add(chunk))
    else if (chunk.length > 0) last = [...last, ...harmless.add(chunk)].slice(-lines)
    else {
      const end = isFollowing ? [] : harmless.end()
      await print(lines === 0 ? [] : [...last, ...end].slice(-lines))
      last = undefined
    }
  }
  await print(harmless.end())
}

function formatter(isServer: boolean, isJson: boolean): Showing['format'] {
  if (!isServer) return (line) => (isJson ? JSON.stringify(line) : line)
  return (line) => (line === '' ? undefined : isJson ? toObject(line) : formatServerLine(line))
}

/** What stands between the lines of the log (a stack on stderr) becomes an object, too. */
const toObject = (line: string): string => (parseLine(line) === undefined ? JSON.stringify({ message: line }) : line)

/** Pure. */
export function formatServerLine(line: string): string {
  const fields = parseLine(line)
  if (fields === undefined) return line
  const { at, level, message, ...rest } = fields
  const more = Object.entries(rest).map(([name, value]) => `${name}=${plain(value)}`)
  return cleanLine([plain(at), plain(level), plain(message), ...more].join(' '))
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
