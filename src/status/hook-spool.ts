/**
 * Reads the hook events that an agent's shim wrote into its spool directory: one JSON file each, then one line
 * `FILE EVENT` appended to `index`, which gives the order. The shim outlives us, so what was written while no
 * server ran is read first. A file is removed once its event was handled; the index is read by offset.
 */
import { statSync, watch } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../async/clock.ts'
import { SerialQueue } from '../async/serial-queue.ts'
import type { Log } from '../lib/log.ts'

export type SpooledEvent = {
  readonly name: string
  readonly payload: unknown
  readonly file: string
  readonly atMs: number
  /** Offset in the index after this event: what to store once it is handled. */
  readonly nextOffset: number
}

export type HookSpoolOptions = {
  readonly dir: string
  readonly fromOffset: number
  readonly clock: Clock
  readonly log: Log
  readonly onEvent: (event: SpooledEvent) => void
}

/** Largest payload that is read, bytes; a larger one is reported and dropped. */
export const payloadBytesMax = 8 * 1024 * 1024
/** The directory watch may miss; a slow look finds what it missed. */
const slowLookMs = 2_000
const indexReadMax = 1024 * 1024

export class HookSpool implements AsyncDisposable {
  readonly #options: HookSpoolOptions
  readonly #queue = new SerialQueue('hook spool', 4)
  #offset: number
  #timer: Disposable | undefined
  #watcher: Disposable | undefined
  #isClosed = false

  constructor(options: HookSpoolOptions) {
    this.#options = options
    this.#offset = options.fromOffset
  }

  /** Reads what is there, then follows. Resolves once the backlog is handled. */
  async start(): Promise<void> {
    const watcher = watch(this.#options.dir, { persistent: false }, (_kind, file) => {
      if (file === 'index' || file === null) this.#wake()
    })
    watcher.on('error', (error) => this.#options.log.write('warn', 'hook spool watch failed', { error: String(error) }))
    this.#watcher = { [Symbol.dispose]: () => watcher.close() }
    await this.#queue.run(() => this.#drain())
    this.#arm()
  }

  /** Reads what has arrived by now. */
  async flush(): Promise<void> {
    await this.#queue.run(() => this.#drain())
  }

  #arm(): void {
    if (this.#isClosed) return
    this.#timer = this.#options.clock.after(slowLookMs, () => {
      if (this.#mayHaveNews()) this.#wake()
      this.#arm()
    })
  }

  /** Costs some microseconds, so that many agents at rest cost nothing; a drain goes through the file system's threads. */
  #mayHaveNews(): boolean {
    try {
      const index = statSync(join(this.#options.dir, 'index'), { throwIfNoEntry: false })
      return index !== undefined && index.size !== this.#offset
    } catch {
      // Whatever it is, the drain meets it too, and reports it.
      return true
    }
  }

  #wake(): void {
    // A drain that waits already will see everything: more than two in the queue add nothing.
    if (this.#isClosed || this.#queue.length >= 2) return
    this.#queue
      .run(() => this.#drain())
      .catch((error: unknown) => {
        this.#options.log.write('warn', 'hook spool unreadable', { error: String(error), dir: this.#options.dir })
      })
  }

  async #drain(): Promise<void> {
    for (;;) {
      const text = await readFrom(join(this.#options.dir, 'index'), this.#offset)
      const end = text.lastIndexOf('\n')
      if (end < 0 || this.#isClosed) return
      for (const line of text.slice(0, end).split('\n')) {
        this.#offset += Buffer.byteLength(line) + 1
        await this.#handle(line)
      }
    }
  }

  async #handle(line: string): Promise<void> {
    const [, file, name] = /^([\w.-]+) ([\w.-]+)/.exec(line) ?? []
    const { log, dir } = this.#options
    if (file === undefined || name === undefined) {
      log.write('warn', 'hook index line not understood', { line: line.slice(0, 200) })
      return
    }
    const path = join(dir, file)
    const payload = await readPayload(path)
    if (payload.kind === 'gone') log.write('debug', 'hook event was read before', { file, name })
    else if (payload.kind === 'bad') log.write('warn', 'hook event dropped', { file, name, why: payload.why })
    else {
      const event = { name, payload: payload.value, file, atMs: payload.atMs, nextOffset: this.#offset }
      try {
        this.#options.onEvent(event)
      } catch (error) {
        log.write('error', 'hook event failed', { file, name, error: String(error) })
      }
    }
    await rm(path, { force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
    this.#watcher?.[Symbol.dispose]()
    await this.#queue.idle()
  }
}

async function readFrom(path: string, offset: number): Promise<string> {
  let handle: Awaited<ReturnType<typeof open>>
  try {
    handle = await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
  try {
    const length = Math.min(indexReadMax, (await handle.stat()).size - offset)
    if (length <= 0) return ''
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

type Payload =
  | { readonly kind: 'ok'; readonly value: unknown; readonly atMs: number }
  | { readonly kind: 'bad'; readonly why: string }
  /** Handled by a server that died before it stored so: what it took from it stands in the rows. */
  | { readonly kind: 'gone' }

async function readPayload(path: string): Promise<Payload> {
  try {
    const handle = await open(path, 'r')
    try {
      const stat = await handle.stat()
      if (stat.size > payloadBytesMax) return { kind: 'bad', why: `larger than ${payloadBytesMax} bytes` }
      return { kind: 'ok', value: JSON.parse(await readFile(handle, 'utf8')) as unknown, atMs: stat.mtimeMs }
    } finally {
      await handle.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'gone' }
    return { kind: 'bad', why: String(error) }
  }
}
