/** SQLite's result codes as faults that say what to do. Source: sqlite.org/rescode.html. */
import { AppError } from '../../domain/errors.ts'

const busy = 5
const locked = 6
const readonly = 8
const ioError = 10
const corrupt = 11
const full = 13
const cantOpen = 14
const constraint = 19
const notDatabase = 26
// Extended codes.
const ioErrorSharedMemorySize = 4874
/** What SQLite makes of a write that a quota (EDQUOT) or a limit of the process (EFBIG) refused; only ENOSPC is `full`. */
const ioErrorWrite = 778
const constraintForeignKey = 787
const constraintPrimaryKey = 1555
const constraintUnique = 2067

type SqliteError = Error & { readonly code: 'ERR_SQLITE_ERROR'; readonly errcode: number }

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

function describeConstraint(error: SqliteError): AppError | undefined {
  const cause = { cause: error }
  if (error.errcode === constraintForeignKey) {
    return new AppError('NOT_FOUND', 'A row that this one refers to does not exist', cause)
  }
  if (error.errcode !== constraintPrimaryKey && error.errcode !== constraintUnique) return undefined
  const columns = error.message.split(': ').at(-1) ?? 'key'
  return new AppError('CONFLICT', `A row with the same ${columns} exists already`, cause)
}

/** The fault for what a statement on the file at `path` threw; anything that SQLite did not throw comes back as it is. */
export function toFault(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error
  const options = { cause: error, data: { path } }
  if (error.errcode === ioErrorSharedMemorySize || error.errcode === ioErrorWrite) return storageFull(path, error)
  switch (error.errcode & 0xff) {
    case full:
      return storageFull(path, error)
    case busy:
    case locked:
      return new AppError('BLOCKED', `The database ${path} is held by another process; try again`, options)
    case corrupt:
    case notDatabase:
      return storeCorrupt(path, error.message, error)
    case constraint:
      return describeConstraint(error) ?? error
    case readonly:
    case cantOpen:
      return new AppError(
        'INTERNAL',
        `The database ${path} can not be written: check who owns it and its folder`,
        options,
      )
    case ioError:
      return new AppError('INTERNAL', `The database ${path} can not be read or written: ${error.message}`, options)
    default:
      return error
  }
}

function storageFull(path: string, cause: unknown): AppError {
  return new AppError('STORAGE_FULL', `There is no room left for ${path}: free disk space, then try again`, {
    cause,
    data: { path },
  })
}

export function storeCorrupt(path: string, what: string, cause?: unknown): AppError {
  const advice =
    '"cao doctor --repair-store" puts it aside and takes the newest good copy; agents that run go on meanwhile'
  return new AppError(
    'STORE_CORRUPT',
    `The database ${path} is damaged or not a database of CAO (${what}): ${advice}`,
    {
      cause,
      data: { path },
    },
  )
}
