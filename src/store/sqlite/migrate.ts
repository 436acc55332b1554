/**
 * Brings a file to the newest schema: numbered migrations, each in one transaction together with the number that
 * says it was made (`user_version`). A file that already holds rows is copied first.
 */
import { AppError } from '../../domain/errors.ts'
import { backUp } from './backups.ts'
import { columnInteger, type Database } from './database.ts'
import { storeCorrupt } from './faults.ts'
import { first } from './migrations/001-first.ts'
import { worktrees } from './migrations/002-worktrees.ts'
import { jobs } from './migrations/003-jobs.ts'
import { receipts } from './migrations/004-receipts.ts'
import { supervision } from './migrations/005-supervision.ts'
import { teamTools } from './migrations/006-team-tools.ts'
import type { Migration } from './migrations/migration.ts'
import { applicationId, isOurs, readSchema } from './schema.ts'

/** In order, without gaps; a released one never changes. */
export const migrations: readonly Migration[] = [first, worktrees, jobs, receipts, supervision, teamTools]

/** Errors: AppError STORE_NEWER, STORE_CORRUPT (another program's file), STORAGE_FULL. */
export function migrate(database: Database, steps: readonly Migration[] = migrations): void {
  const newest = steps.at(-1)?.version ?? 0
  const found = readSchema(database)
  requireOurs(database, found)
  if (found > newest) throw storeNewer(database.path, found, newest)
  if (found === newest) return
  if (found > 0) backUp(database)
  for (const step of steps) applyOnce(database, step)
}

function applyOnce(database: Database, step: Migration): void {
  database.transaction(() => {
    // Read again under the write lock: another process may have been here first.
    if (readSchema(database) >= step.version) return
    database.execute(step.sql)
    database.execute(`PRAGMA application_id = ${applicationId}`)
    database.execute(`PRAGMA user_version = ${step.version}`)
  })
}

function requireOurs(database: Database, version: number): void {
  const isEmpty = columnInteger(database, 'SELECT count(*) FROM sqlite_schema') === 0
  if (isOurs(database) || (isEmpty && version === 0)) return
  // Another process may be making it just now.
  if (!database.transaction(() => isOurs(database))) throw storeCorrupt(database.path, 'another program wrote it')
}

function storeNewer(path: string, found: number, known: number): AppError {
  const advice = 'start the newer CAO again, or set CAO_HOME to another folder'
  return new AppError(
    'STORE_NEWER',
    `The database ${path} was written by a newer CAO (schema ${found}; this one knows ${known}): ${advice}`,
    { data: { path, found, known } },
  )
}
