/**
 * Reading a terminal's output log while the sink appends to it. The log is the truth about bytes:
 * it grows whether or not we live, and a reader that knows its offset loses nothing.
 *
 * A follower is woken by whoever watches the directory and looks by itself every two seconds, for
 * a watch can miss. It notices when the file was trimmed, cut or replaced and says how much is missing.
 */
import { statSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Clock } from '../../async/clock.ts'
import type { OutputChunk } from '../backend.ts'
import { readLogStart } from './log-trim.ts'

export const outputLimits = { chunkBytesMax: 64 * 1024, slowLookMs: 2_000 } as const

export type FollowOptions = {
  readonly clock: Clock
  readonly path: string
  readonly fromOffset: number
  readonly listener: (chunk: OutputChunk) => void
  /** Called with what the listener or the file system threw; the follower goes on at its next look. */
  readonly onError: (error: unknown) => void
}

export class OutputFollower implements Disposable {
  readonly #options: FollowOptions
  #offset: number
  #file: FileHandle | undefined
  #inode = 0
  /** Bytes known to be missing before the next chunk. */
  #gapBytes = 0
  #isLooking = false
  #mustLookAgain = false
  #isDisposed = false
  #timer: Disposable | undefined

  constructor(options: FollowOptions) {
    this.#options = options
    this.#offset = options.fromOffset
    this.#lookLater()
    this.wake()
  }

  /** Everything before it was handed to the listener. */
  get offset(): number {
    return this.#offset
  }

  /** The log may have grown. Cheap; any number of calls during one look give one more. */
  wake(): void {
    if (this.#isDisposed) return
    if (this.#isLooking) {
      this.#mustLookAgain = true
      return
    }
    this.#isLooking = true
    void this.#look()
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#timer?.[Symbol.dispose]()
    if (!this.#isLooking) void this.#closeFile()
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.after(outputLimits.slowLookMs, () => {
      this.#lookLater()
      if (this.#mayHaveNews()) this.wake()
    })
  }

  /** Costs some microseconds, so that many logs that stand still cost nothing; a whole look goes through the file system's threads. */
  #mayHaveNews(): boolean {
    try {
      const now = statSync(this.#options.path, { throwIfNoEntry: false })
      return now !== undefined && (now.ino !== this.#inode || now.size !== this.#offset)
    } catch {
      // Whatever it is, the look meets it too, and reports it.
      return true
    }
  }

  async #look(): Promise<void> {
    try {
      do {
        this.#mustLookAgain = false
        await this.#readNew()
      } while (this.#mustLookAgain && !this.#isDisposed)
    } catch (error) {
      this.#options.onError(error)
    }
    this.#isLooking = false
    if (this.#isDisposed) await this.#closeFile()
  }

  async #readNew(): Promise<void> {
    await this.#openCurrent()
    if (this.#file !== undefined) await this.#readToEnd(this.#file)
  }

  async #readToEnd(file: FileHandle): Promise<void> {
    while (!this.#isDisposed) {
      const buffer = Buffer.allocUnsafe(outputLimits.chunkBytesMax)
      const { bytesRead } = await file.read(buffer, 0, buffer.length, this.#offset)
      if (bytesRead === 0 || this.#isDisposed) return
      const offset = this.#offset
      this.#offset += bytesRead
      const gapBytes = this.#gapBytes
      this.#gapBytes = 0
      this.#options.listener({ bytes: buffer.subarray(0, bytesRead), offset, gapBytes })
    }
  }

  /** Opens what stands at the path now, after the rest of what stood there before. */
  async #openCurrent(): Promise<void> {
    const now = await stat(this.#options.path).catch(ignoreMissing)
    // Removed: what the sink still writes to the old file can be read through our handle.
    if (now === undefined) return
    if (this.#file === undefined || now.ino !== this.#inode) {
      if (this.#file !== undefined) {
        await this.#readToEnd(this.#file)
        await this.#closeFile()
        this.#startOver(Math.max(1, this.#offset))
      }
      this.#file = await open(this.#options.path, 'r')
      this.#inode = now.ino
      const start = readLogStart(this.#options.path)
      if (this.#offset < start) {
        this.#gapBytes += start - this.#offset
        this.#offset = start
      }
    }
    if (now.size < this.#offset) this.#startOver(this.#offset - now.size)
  }

  #startOver(gapBytes: number): void {
    this.#offset = 0
    this.#gapBytes += gapBytes
  }

  async #closeFile(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }
}

/** Length of the log, bytes; 0 when there is none. */
export async function logLength(path: string): Promise<number> {
  return (await stat(path).catch(ignoreMissing))?.size ?? 0
}

/** What is left of the `lengthMax` bytes from `offset`: less at the end, and less where the head was trimmed. */
export async function readLog(path: string, offset: number, lengthMax: number): Promise<Uint8Array> {
  const file = await open(path, 'r').catch(ignoreMissing)
  if (file === undefined) return new Uint8Array()
  try {
    const size = (await file.stat()).size
    const from = Math.max(offset, readLogStart(path))
    const length = Math.max(0, Math.min(offset + lengthMax, size) - from)
    const buffer = Buffer.alloc(length)
    let filled = 0
    while (filled < length) {
      const { bytesRead } = await file.read(buffer, filled, length - filled, from + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return buffer.subarray(0, filled)
  } finally {
    await file.close()
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
