/**
 * One connection: prepared statements kept by their text, SQLite's errors turned into faults, and transactions.
 * Everything in this folder talks to SQLite through here, so that no statement can run outside the transaction it
 * was meant for after SQLite has rolled that back by itself (as it may on a full disk).
 */
import { backup, DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { AppError } from '../../domain/errors.ts'
import { assert } from '../../lib/assert.ts'
import { toFault } from './faults.ts'

export type Row = Record<string, SQLOutputValue>
export type Parameters = Readonly<Record<string, SQLInputValue>>

/** How long a statement waits for another process's write. */
export const busyTimeoutMs = 5_000

/** What was answered "accepted" is on the disk, also after a power cut. */
export const syncEachCommit = 'PRAGMA synchronous = FULL'
/** The order of commits stays, and a process that is killed loses none of them. */
const syncLater = 'PRAGMA synchronous = NORMAL'

export class Database implements Disposable {
  readonly path: string
  readonly #connection: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #depth = 0
  #deferrals = 0
  /** What a nested transaction threw: the outer one must not commit, even when its work caught it. */
  #doom: { readonly error: unknown } | undefined

  /** Errors: AppError when the file can not be opened. Owns: the connection, freed by dispose. */
  constructor(path: string) {
    this.path = path
    this.#connection = this.#guard(() => new DatabaseSync(path, { timeout: busyTimeoutMs }))
  }

  /** Runs statements without results, outside the cache: schema and pragmas. */
  execute(sql: string): void {
    this.#check()
    this.#guard(() => this.#connection.exec(sql))
  }

  /** How many rows it changed. */
  run(sql: string, parameters: Parameters = {}): number {
    this.#check()
    return this.#guard(() => Number(this.#statement(sql).run(parameters).changes))
  }

  get(sql: string, parameters: Parameters = {}): Row | undefined {
    this.#check()
    return this.#guard(() => this.#statement(sql).get(parameters))
  }

  all(sql: string, parameters: Parameters = {}): readonly Row[] {
    this.#check()
    return this.#guard(() => this.#statement(sql).all(parameters))
  }

  /**
   * Runs `work` in one transaction that holds the write lock from its start, so that what it reads is still true
   * when it writes. Nested calls join it, and a throw from any of them ends all of it, caught or not.
   */
  transaction<T>(work: () => T): T {
    if (this.#depth === 0) return this.#outermost(work)
    this.#depth++
    try {
      return this.#synchronous(work)
    } catch (error) {
      this.#doom ??= { error }
      throw error
    } finally {
      this.#depth--
    }
  }

  /** As `Store.deferSync`. One in another is over with the outer one. */
  deferSync(): Disposable {
    if (this.#depth > 0) return { [Symbol.dispose]: () => undefined }
    if (this.#deferrals++ === 0) this.execute(syncLater)
    return {
      [Symbol.dispose]: () => {
        if (--this.#deferrals === 0) this.execute(syncEachCommit)
      },
    }
  }

  /** As `transaction`, but inside one a throw is the caller's to judge: for a row method that throws before it writes. */
  atomically<T>(work: () => T): T {
    return this.#depth === 0 ? this.#outermost(work) : work()
  }

  /** Copies the whole into the file at `path`, a few pages at a time; what is written meanwhile is in it as well. */
  async copyTo(path: string): Promise<void> {
    try {
      await backup(this.#connection, path)
    } catch (error) {
      throw toFault(error, path)
    }
  }

  [Symbol.dispose](): void {
    this.#statements.clear()
    if (this.#connection.isOpen) this.#connection.close()
  }

  #outermost<T>(work: () => T): T {
    this.#guard(() => this.#connection.exec('BEGIN IMMEDIATE'))
    this.#depth = 1
    this.#doom = undefined
    try {
      const value = this.#synchronous(work)
      const doom = this.#doom as { readonly error: unknown } | undefined
      if (doom !== undefined) throw doom.error
      this.#check()
      this.#guard(() => this.#connection.exec('COMMIT'))
      return value
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK')
      throw error
    } finally {
      this.#depth = 0
      this.#doom = undefined
    }
  }

  #synchronous<T>(work: () => T): T {
    const value = work()
    const isPromise = typeof value === 'object' && value !== null && 'then' in value
    assert(!isPromise, 'a transaction must not wait: its work returned a promise')
    return value
  }

  #check(): void {
    if (this.#depth === 0 || this.#connection.isTransaction) return
    throw new AppError('INTERNAL', `The transaction on ${this.path} was rolled back before this statement`)
  }

  #guard<T>(call: () => T): T {
    try {
      return call()
    } catch (error) {
      throw toFault(error, this.path)
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const made = this.#connection.prepare(sql)
    this.#statements.set(sql, made)
    return made
  }
}

/** The one integer that `sql` gives. */
export function columnInteger(database: Database, sql: string): number {
  const [value] = Object.values(database.get(sql) ?? {})
  assert(typeof value === 'number', `no integer from ${sql}`)
  return value
}
