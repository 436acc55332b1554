/** A secret on its way in (never through the arguments) and out (never as it is). */
import { AppError } from '../domain/errors.ts'
import type { CliContext } from './command.ts'

/** Tells nothing, not even the length. */
export const mask = '********'

/** From stdin, without its last newline; a person at a terminal is asked, and what they type is not shown. Errors: BAD_REQUEST. */
export async function readSecret(context: CliContext, name: string): Promise<string> {
  const given = context.isTerminal.stdin
    ? await context.askSecret(`${name} (is not shown): `)
    : (await context.readStdin()).replace(/\r?\n$/, '')
  if (given !== '') return given
  throw new AppError('BAD_REQUEST', `no value of ${name} was given on stdin; nothing was changed`)
}
