/**
 * `cao` from its first word to its exit code: finds the command, reads its options, runs it, and turns whatever
 * goes wrong into one sentence on stderr. The only catch-all of the command line stands here.
 */
import { DeadlineError } from '../async/wait.ts'
import { AppError, errorTable } from '../domain/errors.ts'
import { cleanText } from './clean-text.ts'
import type { CliContext, Command } from './command.ts'
import { type CommandEntry, commandTable } from './commands.ts'
import { flagOption, parseCall } from './parse-call.ts'

/** As shells report a program that Ctrl-C ended. */
export const interruptedExitCode = 130

/** The exit code. Errors: none. */
export async function runCli(words: readonly string[], context: CliContext): Promise<number> {
  try {
    return await dispatch(words, context)
  } catch (error) {
    if (context.signal.aborted) return interruptedExitCode
    const { exitCode, sentence } = describeFailure(error)
    if (sentence !== undefined) context.note(`Error: ${sentence}`)
    return exitCode
  }
}

async function dispatch(words: readonly string[], context: CliContext): Promise<number> {
  const [name, ...rest] = words
  if (name === '--version' || name === '-V') {
    await context.out(`cao ${context.programs.version}\n`)
    return 0
  }
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    return showHelp(rest[0], context)
  }
  const entry = findEntry(name)
  const command = await entry.load()
  if (wantsHelp(rest)) return showHelp(name, context)
  const { options, positionals } = parseCall(name, command, rest)
  if (flagOption(options, 'help')) return showHelp(name, context)
  return (await command.run({ options, positionals, context })) ?? 0
}

/** Before the options are read, so that `--help` helps even in a line that is wrong. */
const wantsHelp = (words: readonly string[]): boolean => words[0] === '--help' || words[0] === '-h'

function findEntry(name: string): CommandEntry {
  const entry = commandTable.find((candidate) => candidate.name === name)
  if (entry !== undefined) return entry
  throw new AppError('BAD_REQUEST', `"${name}" is no command; "cao help" lists them`)
}

async function showHelp(name: string | undefined, context: CliContext): Promise<number> {
  if (name === undefined) {
    await context.out(helpText())
    return 0
  }
  const entry = findEntry(name)
  await context.out(commandHelp(entry, await entry.load()))
  return 0
}

export function helpText(): string {
  const width = Math.max(...commandTable.map(({ name }) => name.length))
  const lines = commandTable.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `cao runs a team of coding agents in tmux, and says by what proof each message arrived.

Usage: cao COMMAND [OPTIONS]

${lines.join('\n')}

"cao COMMAND --help" says more. Every command takes --json. CAO_HOME names the home (~/.cao).
`
}

function commandHelp(entry: CommandEntry, command: Command): string {
  return `${entry.name}: ${entry.summary}\n\nUsage: ${command.usage.trim()}\n`
}

type Failure = { readonly exitCode: number; readonly sentence: string | undefined }

function describeFailure(error: unknown): Failure {
  if (error instanceof AppError) return { exitCode: error.row.exitCode, sentence: cleanText(error.message) }
  if (error instanceof DeadlineError) return { exitCode: errorTable.TIMEOUT.exitCode, sentence: error.message }
  if (error instanceof Error && 'code' in error && error.code === 'EPIPE') {
    // Whoever read our output has read enough.
    return { exitCode: 0, sentence: undefined }
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    exitCode: errorTable.INTERNAL.exitCode,
    sentence: `this is a fault of CAO itself, please report it: ${detail}`,
  }
}
