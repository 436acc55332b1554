/**
 * Brings a file to the newest schema: numbered migrations, each in one transaction together with the number that
 * says it was made (`user_version`). A file that already holds rows is copied beside itself first.
 */
import { closeSync, openSync, renameSync, rmSync } from 'node:fs'
import { AppError } from '../../domain/errors.ts'
import { columnInteger, type Database } from './database.ts'
import { storeCorrupt } from './faults.ts'
import { first } from './migrations/001-first.ts'
import { worktrees } from './migrations/002-worktrees.ts'
import type { Migration } from './migrations/migration.ts'

/** In order, without gaps; a released one never changes. */
export const migrations: readonly Migration[] = [first, worktrees]
/** Stands in the file's header: "CAO1" in ASCII. */
export const applicationId = 0x43414f31

const readVersion = (database: Database): number => columnInteger(database, 'PRAGMA user_version')

/** Errors: AppError STORE_NEWER, STORE_CORRUPT (another program's file), STORAGE_FULL. */
export function migrate(database: Database, steps: readonly Migration[] = migrations): void {
  const newest = steps.at(-1)?.version ?? 0
  const found = readVersion(database)
  requireOurs(database, found)
  if (found > newest) throw storeNewer(database.path, found, newest)
  if (found === newest) return
  if (found > 0) backUp(database, found)
  for (const step of steps) applyOnce(database, step)
}

function applyOnce(database: Database, step: Migration): void {
  database.transaction(() => {
    // Read again under the write lock: another process may have been here first.
    if (readVersion(database) >= step.version) return
    database.execute(step.sql)
    database.execute(`PRAGMA application_id = ${applicationId}`)
    database.execute(`PRAGMA user_version = ${step.version}`)
  })
}

function requireOurs(database: Database, version: number): void {
  const id = columnInteger(database, 'PRAGMA application_id')
  const isEmpty = columnInteger(database, 'SELECT count(*) FROM sqlite_schema') === 0
  if (id === applicationId || (isEmpty && version === 0)) return
  // Another process may be making it just now.
  const again = database.transaction(() => columnInteger(database, 'PRAGMA application_id'))
  if (again !== applicationId) throw storeCorrupt(database.path, 'another program wrote it')
}

function storeNewer(path: string, found: number, known: number): AppError {
  const advice = 'start the newer CAO again, or set CAO_HOME to another folder'
  return new AppError(
    'STORE_NEWER',
    `The database ${path} was written by a newer CAO (schema ${found}; this one knows ${known}): ${advice}`,
    { data: { path, found, known } },
  )
}

/** Writes `<path>.v<version>.backup`, complete or not at all. */
function backUp(database: Database, version: number): void {
  const target = `${database.path}.v${version}.backup`
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  // Made empty first, since VACUUM INTO would create it readable for others.
  closeSync(openSync(partial, 'wx', 0o600))
  database.run('VACUUM INTO :partial', { partial })
  renameSync(partial, target)
}
