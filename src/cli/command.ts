/**
 * The contract of a command: what its file exports, and the world it gets instead of `process`.
 *
 * A command file exports one `Command`. Its name and its summary stand in `commands.ts`, which loads the file
 * only when the command is called, so that a quick command pays for nothing but itself. A command reads its
 * options, talks to the server through `openClient`, prints, and returns; every refusal is an AppError, which
 * `run-cli.ts` turns into one sentence and an exit code.
 */
import type { ParseArgsOptionDescriptor } from 'node:util'
import type { Clock } from '../async/clock.ts'
import type { Client } from '../client/client.ts'
import type { HomeLayout } from '../protocol/home.ts'
import type { StoreRepair } from '../protocol/store-repair.ts'
import type { ScreenTools } from './screen-tools.ts'

/** `isNumber`: its value never begins with "-". */
export type OptionDescriptor = ParseArgsOptionDescriptor & { readonly isNumber?: boolean }
export type OptionTable = Readonly<Record<string, OptionDescriptor>>
export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>

export type Call = {
  readonly options: OptionValues
  readonly positionals: readonly string[]
  readonly context: CliContext
}

export type Command = {
  /** What stands after "Usage: "; begins with `cao NAME`, then a line for each option. */
  readonly usage: string
  readonly options: OptionTable
  /** True: a word that begins with "-" and is none of the options is text, so that any message can be given. */
  readonly takesText?: boolean
  /** Returns the exit code; undefined is 0. Errors: AppError. */
  run(call: Call): Promise<number | undefined>
}

/** How to start our other programs; argv words without a shell. */
export type Programs = {
  readonly server: readonly string[]
  readonly demo: readonly string[]
  readonly version: string
}

/** What a command may touch of the process it runs in. */
export type CliContext = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Errors, when it is read: DIRECTORY_MISSING. */
  readonly cwd: string
  /** Errors, when it is read: DIRECTORY_MISSING for a home that is named from a current directory that is gone. */
  readonly layout: HomeLayout
  readonly clock: Clock
  readonly programs: Programs
  /** Aborts at the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean }
  readonly columns: number
  /** Writes to stdout, as it is. Resolves when more may be written. */
  out(text: string): Promise<void>
  /** Writes one line to stderr. */
  note(line: string): void
  /** All of stdin as UTF-8. Errors: TOO_LARGE above the limit of a message, BAD_REQUEST for bytes that are no UTF-8. */
  readStdin(): Promise<string>
  /** Asks the person and returns the line; only where stdin is a terminal. */
  ask(question: string): Promise<string>
  /** As `ask`, without showing what is typed. */
  askSecret(question: string): Promise<string>
  /** Runs a program on our terminal, our environment without `TMUX`, and returns its exit code. */
  runProgram(argv: readonly string[]): Promise<number>
  /** The rules of the providers, without a server. */
  openScreenTools(): Promise<ScreenTools>
  /** Mends the database of the home. Errors: CONFLICT while a server runs, STORE_NEWER. */
  repairStore(): Promise<StoreRepair>
  /** A client of the running server; starts one when none runs, unless told not to. Errors: SERVER_UNREACHABLE. */
  openClient(options?: { readonly mayStart?: boolean }): Promise<Client>
}

/** The options that every command has beside its own. */
export const commonOptions = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies OptionTable
