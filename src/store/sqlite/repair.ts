/**
 * The way out of a database that can not be opened: it is put aside, never deleted, and the newest copy that is whole takes
 * its place, or an empty database where there is none. What the copy holds as unfinished is closed, because nobody knows
 * how it ended meanwhile: no message is typed a second time, no task is given twice. Nobody else may have the file open.
 */
import { closeSync, copyFileSync, existsSync, openSync, renameSync, statSync } from 'node:fs'
import { AppError } from '../../domain/errors.ts'
import { type Backup, listBackups } from './backups.ts'
import { readText } from './columns.ts'
import { Database } from './database.ts'
import { migrations } from './migrate.ts'
import { openStore } from './open.ts'
import { isOurs, readSchema } from './schema.ts'

export type Repaired =
  | { readonly kind: 'whole' }
  | {
      readonly kind: 'restored'
      /** Where the damaged file is now; undefined when there was none. */
      readonly broken: string | undefined
      readonly from: Backup
      /** What was open in the copy and was closed, since its real end is not known. */
      readonly closedMessages: number
      readonly closedJobs: number
    }
  | { readonly kind: 'emptied'; readonly broken: string | undefined }

/** So far ahead that no number of the lost time is given out again, and that readers of events see a gap. */
const numbersSkipped = 1_000_000
const why = 'the database was restored from an older copy; what became of it meanwhile is not known'

/** Errors: STORE_NEWER, BLOCKED, STORAGE_FULL, INTERNAL; a file that is only damaged is none. */
export function repairStore(path: string): Repaired {
  if (isWhole(path)) return { kind: 'whole' }
  const from = listBackups(path).find((backup) => isGoodCopy(backup))
  const broken = putAside(path)
  if (from !== undefined) {
    closeSync(openSync(path, 'wx', 0o600))
    copyFileSync(from.path, path)
  }
  openStore({ path })[Symbol.dispose]()
  using database = new Database(path)
  const closed = database.transaction(() => {
    skipNumbers(database)
    return closeOpenEnds(database)
  })
  return from === undefined ? { kind: 'emptied', broken } : { kind: 'restored', broken, from, ...closed }
}

function isWhole(path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return false
  try {
    openStore({ path })[Symbol.dispose]()
    using database = new Database(path)
    return isSound(database)
  } catch (error) {
    if (error instanceof AppError && error.code === 'STORE_CORRUPT') return false
    throw error
  }
}

const isSound = (database: Database): boolean =>
  readText(database.get('PRAGMA integrity_check(1)') ?? {}, 'integrity_check') === 'ok'

function isGoodCopy({ path, schema }: Backup): boolean {
  if (schema > migrations.length) return false
  try {
    using database = new Database(path)
    return isOurs(database) && readSchema(database) <= migrations.length && isSound(database)
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** The log of the database goes along: it belongs to this file and would spoil another. */
function putAside(path: string): string | undefined {
  const isThere = existsSync(path)
  let broken = `${path}.broken`
  for (let n = 2; existsSync(broken); n++) broken = `${path}.broken-${n}`
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, broken + suffix)
  }
  return isThere ? broken : undefined
}

function skipNumbers(database: Database): void {
  database.run('UPDATE event_counter SET last_seq = last_seq + :n', { n: numbersSkipped })
  const changed = database.run(`UPDATE sqlite_sequence SET seq = seq + :n WHERE name = 'messages'`, {
    n: numbersSkipped,
  })
  if (changed === 0)
    database.run(`INSERT INTO sqlite_sequence (name, seq) VALUES ('messages', :n)`, { n: numbersSkipped })
}

function closeOpenEnds(database: Database): { readonly closedMessages: number; readonly closedJobs: number } {
  const give = 'UPDATE messages SET state = :to, detail = :why WHERE state IN'
  const closedMessages =
    database.run(`${give} ('queued', 'leased')`, { to: 'undeliverable', why }) +
    database.run(`${give} ('typing', 'typed')`, { to: 'unconfirmed', why })
  const closedJobs = database.run(
    `UPDATE jobs SET state = 'failed', result = :result, is_reported = 1,
       ended_at_ms = CAST(strftime('%s', 'now') AS INTEGER) * 1000
     WHERE state IN ('created', 'running')`,
    { result: JSON.stringify({ failure: why }) },
  )
  return { closedMessages, closedJobs }
}
