/**
 * One server per CAO_HOME. The lock is SQLite's exclusive lock on a file of its own, which the kernel frees when
 * the process dies however it dies; a pid file could lie. The loser names the winner.
 */
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../domain/errors.ts'
import { type HomeLayout, parseServerFile } from '../protocol/home.ts'

/** Errors: CONFLICT naming the process that has it. Owns: dispose to free it. */
export function lockHome(layout: HomeLayout): Disposable {
  mkdirSync(layout.runDir, { recursive: true, mode: 0o700 })
  const path = join(layout.runDir, 'lock.db')
  // SQLite gives its journal the mode of the file.
  closeSync(openSync(path, 'a', 0o600))
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    if (!/locked|busy/i.test(String(cause))) throw cause
    throw new AppError('CONFLICT', `a server already runs for ${layout.home}${describeWinner(layout)}`, { cause })
  }
  return { [Symbol.dispose]: () => database.close() }
}

function describeWinner(layout: HomeLayout): string {
  try {
    const file = parseServerFile(readFileSync(layout.serverFile, 'utf8'))
    return file === undefined ? '' : ` (process ${file.pid}, since ${file.started_at})`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ' (it is just starting)'
    throw error
  }
}
