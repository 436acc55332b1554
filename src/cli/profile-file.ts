/** A profile as a file that a person names on the command line. */
import { basename, resolve } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { profileNamePattern } from '../domain/profile.ts'
import { readPrivateFile } from '../home/private-file.ts'
import { profileContentLengthMax } from '../protocol/profile-store.ts'
import type { CliContext } from './command.ts'

/** Whether a word means a file, and not the name of a profile or an address. */
export const isProfilePath = (text: string): boolean =>
  !/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && (text.includes('/') || text.endsWith('.md'))

/** Errors: BAD_REQUEST, TOO_LARGE. */
export async function readProfileFile(
  text: string,
  context: CliContext,
): Promise<{ readonly name: string; readonly content: string }> {
  const path = resolve(text.startsWith('/') ? '/' : context.cwd, text)
  const name = basename(path).replace(/\.md$/, '')
  if (!path.endsWith('.md') || !profileNamePattern.test(name)) {
    throw new AppError('BAD_REQUEST', `${path} is no NAME.md, NAME of letters, digits, "_" and "-", at most 64`)
  }
  const content = await readPrivateFile(path, profileContentLengthMax)
  if (content === undefined) throw new AppError('BAD_REQUEST', `there is no file ${path}`)
  return { name, content }
}
