/** How commands print: JSON for programs, text for people, and text of agents as it is only where no terminal reads it. */
import { cleanText } from './clean-text.ts'
import type { CliContext } from './command.ts'

export async function printJson(context: CliContext, value: unknown): Promise<void> {
  await context.out(`${JSON.stringify(value, null, 2)}\n`)
}

export async function printLine(context: CliContext, line: string): Promise<void> {
  await context.out(`${line}\n`)
}

/** Prints what an agent wrote: exact into a pipe or file, without escape sequences on a terminal; always ends with a newline. */
export async function printAgentText(context: CliContext, text: string): Promise<void> {
  const shown = context.isTerminal.stdout ? cleanText(text) : text
  await context.out(shown.endsWith('\n') ? shown : `${shown}\n`)
}

const harmlessWord = /^[A-Za-z0-9_@%+=:,./-]+$/

/** A command line that a POSIX shell reads back as these words. */
export function formatCommandLine(argv: readonly string[]): string {
  return argv.map((word) => (harmlessWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}
