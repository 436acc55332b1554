/**
 * Follows the status file of one conversation. The folder is watched, and looked at once in a while for what the watch
 * missed; it may not exist before the program's first start. Nothing is ever written there.
 */
import { type FSWatcher, watch } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../async/clock.ts'
import { SignalLatch } from '../../async/signal-latch.ts'
import { parseStatusRecord, type StatusRecord } from './status-record.ts'

/** Units: ms. */
const slowLookMs = 2_000
const firstLookMs = 250
/** Looks at the short distance, while the program starts. */
const firstLooksMax = 60

export type StatusFileOptions = {
  readonly dir: string
  /** May change: a person can go on in another conversation. */
  readonly sessionId: () => string
  readonly clock: Clock
  readonly onRecord: (record: StatusRecord) => void
}

export class StatusFile {
  readonly #options: StatusFileOptions
  /** Name of the file that held our conversation last. */
  #name: string | undefined

  constructor(options: StatusFileOptions) {
    this.#options = options
  }

  /** Ends when `signal` aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const latch = new SignalLatch()
    let watcher: FSWatcher | undefined
    try {
      for (let looks = 0; !signal.aborted; looks++) {
        watcher ??= this.#watch(latch)
        const record = await this.load()
        if (record !== undefined) this.#options.onRecord(record)
        const isEarly = looks < firstLooksMax && record === undefined
        await latch.wait(this.#options.clock, isEarly ? firstLookMs : slowLookMs, signal)
      }
    } finally {
      watcher?.close()
    }
  }

  /** The record as it is now; undefined when there is none. */
  async load(): Promise<StatusRecord | undefined> {
    const known = this.#name === undefined ? undefined : await this.#read(this.#name)
    if (known !== undefined) return known
    const found = await this.#find()
    this.#name = found?.name
    return found?.record
  }

  /** undefined when the folder is not there. */
  #watch(latch: SignalLatch): FSWatcher | undefined {
    try {
      const watcher = watch(this.#options.dir, { persistent: false }, (_kind, name) => {
        if (this.#name === undefined || name === null || name.startsWith(this.#name)) latch.raise()
      })
      watcher.on('error', () => latch.raise())
      return watcher
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }

  /** Of several for one conversation the newest program's: a crash leaves its file behind. */
  async #find(): Promise<{ readonly name: string; readonly record: StatusRecord } | undefined> {
    let best: { readonly name: string; readonly record: StatusRecord } | undefined
    for (const name of await this.#list()) {
      const record = name.endsWith('.json') ? await this.#read(name) : undefined
      if (record !== undefined && record.startedAtMs >= (best?.record.startedAtMs ?? 0)) best = { name, record }
    }
    return best
  }

  async #list(): Promise<readonly string[]> {
    try {
      return await readdir(this.#options.dir)
    } catch (error) {
      if (isGone(error)) return []
      throw error
    }
  }

  /** undefined when it is gone, being written, or of another conversation. */
  async #read(name: string): Promise<StatusRecord | undefined> {
    try {
      const record = parseStatusRecord(await readFile(join(this.#options.dir, name), 'utf8'))
      return record?.sessionId === this.#options.sessionId() ? record : undefined
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
