/**
 * A home that can not be one: its name is refused before anything is read, and what the system says about it becomes
 * a sentence that names the folder, the reason and what to do. Faults of another kind pass as they are.
 */
import { AppError } from '../domain/errors.ts'
import type { HomeLayout } from '../protocol/home.ts'

/** SQLite takes paths of 511 bytes, its journal's suffix included; the socket finds a shorter place by itself. Units: bytes. */
const dbPathBytesMax = 500

const reasons: Readonly<Partial<Record<string, string>>> = {
  EACCES: 'this user may not use it',
  EPERM: 'this user may not use it',
  EROFS: 'its file system is read-only',
  EEXIST: 'a file stands where a folder has to be',
  ENOTDIR: 'a file stands where a folder has to be',
  EISDIR: 'a folder stands where a file has to be',
  ENOENT: 'it can not be made there',
  ELOOP: 'its symbolic links go in a circle',
  ENAMETOOLONG: 'its path is too long',
}
const cure = 'choose another folder by CAO_HOME'

/** Errors: BAD_REQUEST. Pure. */
export function refuseBadHome({ home, dbFile }: Pick<HomeLayout, 'home' | 'dbFile'>): void {
  // Such a path could not be told in a line of a log, a setting or a command.
  if (/\p{Cc}/u.test(home)) {
    throw new AppError('BAD_REQUEST', `the home ${JSON.stringify(home)} has control characters in its path; ${cure}`)
  }
  const spare = dbPathBytesMax - Buffer.byteLength(dbFile)
  if (spare >= 0) return
  const homeBytesMax = Buffer.byteLength(home) + spare
  throw new AppError(
    'BAD_REQUEST',
    `the path of the home has ${Buffer.byteLength(home)} bytes, and ${homeBytesMax} are the most (${home.slice(0, 60)}…); ${cure}`,
  )
}

/** The fault to throw instead of `error`, which came of a file or folder of the home. */
export function toHomeFault(error: unknown, home: string): unknown {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return error
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined
  return describeHomeFault(error.code, { home, path, cause: error }) ?? error
}

type Place = { readonly home: string; readonly path?: string | undefined; readonly cause?: unknown }

/** Undefined when a system error of this code says nothing about the home. */
export function describeHomeFault(code: string, { home, path, cause }: Place): AppError | undefined {
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AppError('STORAGE_FULL', `no room is left for the home ${home} (${code}); make room there`, { cause })
  }
  const reason = reasons[code]
  if (reason === undefined) return undefined
  const where = path === undefined || path === home ? '' : ` at ${path}`
  return new AppError('BAD_REQUEST', `the home ${home} can not be used: ${reason}${where} (${code}); ${cure}`, {
    cause,
  })
}
