/**
 * Copies of the database, beside it: `cao.db.v<schema>.<UTC time>.backup`. One is made before each migration and one a day
 * while a server runs. Kept are the newest few, and of each older schema the newest one. The time is SQLite's own.
 */
import { closeSync, openSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import { readText } from './columns.ts'
import type { Database } from './database.ts'
import { readSchema } from './schema.ts'

export const backupsMax = 5
/** Left free beside a daily copy. Units: bytes. */
const spareBytesMin = 64 * 1024 * 1024

export type Backup = { readonly path: string; readonly schema: number; readonly takenAtMs: number }

/** Newest first; half made ones are none. */
export function listBackups(path: string): readonly Backup[] {
  const prefix = `${basename(path)}.v`
  return readdirSync(dirname(path))
    .flatMap((name) => {
      if (!name.startsWith(prefix)) return []
      const [, schema, y, mo, d, h, mi, s] =
        /^(\d+)\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/.exec(name.slice(prefix.length)) ?? []
      if (schema === undefined) return []
      const takenAtMs = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`)
      return [{ path: join(dirname(path), name), schema: Number(schema), takenAtMs }]
    })
    .toSorted((a, b) => b.takenAtMs - a.takenAtMs || b.schema - a.schema)
}

/** Writes a copy, complete or not at all, and returns its path. Blocks until it is made. */
export function backUp(database: Database): string {
  const { target, partial } = preparePlace(database)
  database.run('VACUUM INTO :partial', { partial })
  return keep(database.path, partial, target)
}

/** As `backUp`, a few pages at a time, while the database is at work. */
export async function backUpSlowly(database: Database): Promise<string> {
  requireRoom(database.path)
  const { target, partial } = preparePlace(database)
  try {
    await database.copyTo(partial)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
  return keep(database.path, partial, target)
}

/** A copy must not take the room that messages need. */
function requireRoom(path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  if (bavail * bsize >= 2 * statSync(path).size + spareBytesMin) return
  throw new AppError('STORAGE_FULL', `there is no room for a copy of ${path}: free disk space`, { data: { path } })
}

function preparePlace(database: Database): { readonly target: string; readonly partial: string } {
  const now = readText(database.get(`SELECT strftime('%Y%m%dT%H%M%SZ', 'now') AS now`) ?? {}, 'now')
  const target = `${database.path}.v${readSchema(database)}.${now}.backup`
  const partial = `${target}.partial`
  removePartials(database.path)
  // Made empty first, since SQLite would create it readable for others.
  closeSync(openSync(partial, 'wx', 0o600))
  return { target, partial }
}

function removePartials(path: string): void {
  const left = readdirSync(dirname(path)).filter(
    (name) => name.startsWith(`${basename(path)}.v`) && name.endsWith('.backup.partial'),
  )
  for (const name of left) rmSync(join(dirname(path), name), { force: true })
}

function keep(path: string, partial: string, target: string): string {
  renameSync(partial, target)
  const all = listBackups(path)
  const newestOf = new Set([...new Set(all.map(({ schema }) => schema))].map((n) => all.find((b) => b.schema === n)))
  for (const each of all.slice(backupsMax)) if (!newestOf.has(each)) rmSync(each.path, { force: true })
  return target
}
