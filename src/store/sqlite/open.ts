/**
 * Opens the store: folder and file for their owner alone, settings, schema, then the aggregates over one connection.
 * One file per aggregate holds its statements; `database.ts` holds what they share.
 */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import type { Store } from '../store.ts'
import { backUpSlowly, listBackups } from './backups.ts'
import { readText } from './columns.ts'
import { Database, syncEachCommit } from './database.ts'
import { createEventRows } from './events.ts'
import { createFacts } from './facts.ts'
import { storeCorrupt } from './faults.ts'
import { createHoldRows } from './holds.ts'
import { createJobRows } from './jobs.ts'
import { createMessageRows } from './messages.ts'
import { migrate } from './migrate.ts'
import { createPurge } from './purge.ts'
import { createQuestionRows } from './questions.ts'
import { createSessionRows } from './sessions.ts'
import { createTerminalRows } from './terminals.ts'
import { createWorktreeRows } from './worktrees.ts'

/** A file up to this size is checked as a whole when it is opened; a larger one tells of damage where it is met. */
const checkedBytesMax = 32 * 1024 * 1024

export type OpenOptions = {
  readonly path: string
  /** The most the file may grow to; reaching it is a full disk. Units: pages of 4096 bytes. */
  readonly pagesMax?: number
}

/** Errors: AppError STORE_NEWER, STORE_CORRUPT, STORAGE_FULL, BLOCKED, INTERNAL (not ours to write). Owns: dispose closes it. */
export function openStore(options: OpenOptions): Store {
  makePrivate(options.path)
  const database = new Database(options.path)
  try {
    configure(database)
    checkWhole(database)
    migrate(database)
    if (options.pagesMax !== undefined) database.execute(`PRAGMA max_page_count = ${Math.trunc(options.pagesMax)}`)
    return assemble(database)
  } catch (error) {
    database[Symbol.dispose]()
    throw error
  }
}

/** The file's mode is what SQLite gives its -wal and -shm files, too. A folder that exists keeps its mode: it may not be ours. */
function makePrivate(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  } catch (cause) {
    const isFull = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC'
    const what = `The database ${path} can not be created or opened: ${String(cause)}`
    throw new AppError(isFull ? 'STORAGE_FULL' : 'INTERNAL', what, { cause, data: { path } })
  }
}

function configure(database: Database): void {
  const mode = readText(database.get('PRAGMA journal_mode = WAL') ?? {}, 'journal_mode')
  if (mode !== 'wal') {
    throw new AppError('INTERNAL', `The disk of ${database.path} can not hold a database in WAL mode: use a local one`)
  }
  database.execute(syncEachCommit)
  database.execute('PRAGMA foreign_keys = ON')
  database.execute('PRAGMA trusted_schema = OFF')
}

function checkWhole(database: Database): void {
  if (statSync(database.path).size > checkedBytesMax) return
  const found = readText(database.get('PRAGMA quick_check(1)') ?? {}, 'quick_check')
  if (found !== 'ok') throw storeCorrupt(database.path, found)
}

function assemble(database: Database): Store {
  return {
    transaction: (work) => database.transaction(work),
    deferSync: () => database.deferSync(),
    sessions: createSessionRows(database),
    terminals: createTerminalRows(database),
    messages: createMessageRows(database),
    jobs: createJobRows(database),
    questions: createQuestionRows(database),
    holds: createHoldRows(database),
    worktrees: createWorktreeRows(database),
    events: createEventRows(database),
    ...createFacts(database),
    purge: createPurge(database),
    backUp: async ({ nowMs, everyMs }) => {
      const newest = listBackups(database.path)[0]
      // A clock that was set back must not end the copies.
      const isYoung = newest !== undefined && Math.abs(nowMs - newest.takenAtMs) < everyMs
      return isYoung ? undefined : backUpSlowly(database)
    },
    [Symbol.dispose]: () => database[Symbol.dispose](),
  }
}
