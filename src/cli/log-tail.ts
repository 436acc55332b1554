/**
 * The end of a file that grows, and what is added to it: for logs that are read where they lie, so that it works without a
 * server. A file that begins anew (moved away when it was full) is read from its beginning.
 */
import { open, readFile, stat } from 'node:fs/promises'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'

const pollMs = 250
const chunkBytesMax = 256 * 1024

export type TailOptions = {
  readonly path: string
  /** How much of the end is wanted at first. Units: bytes. */
  readonly bytes: number
  readonly isFollowing: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Yields bytes in order: the end, then an empty piece, then what comes. Errors: the file system's; ENOENT when there is none at first. */
export async function* tailFile({ path, bytes, isFollowing, clock, signal }: TailOptions): AsyncGenerator<Buffer> {
  let offset = Math.max(0, (await stat(path)).size - bytes, await readStart(path))
  for (let isFirst = true; ; isFirst = false) {
    for (let chunk = await readAt(path, offset); chunk.length > 0; chunk = await readAt(path, offset)) {
      offset += chunk.length
      yield chunk
    }
    if (isFirst) yield Buffer.alloc(0)
    if (!isFollowing || signal.aborted) return
    try {
      await sleep(clock, pollMs, signal)
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    const size = await sizeOf(path)
    // Nothing is there any more: the agent was deleted.
    if (size === undefined) return
    if (size < offset) offset = 0
  }
}

async function readAt(path: string, offset: number): Promise<Buffer> {
  try {
    await using file = await open(path, 'r')
    const buffer = Buffer.alloc(chunkBytesMax)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (isAbsence(error)) return Buffer.alloc(0)
    throw error
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Where an output log begins whose head was given up: what stands before it are zeros (`backend/tmux/log-trim.ts`). */
async function readStart(path: string): Promise<number> {
  try {
    return Number(/^\d{1,15}/.exec(await readFile(`${path}.start`, 'utf8'))?.[0] ?? 0)
  } catch (error) {
    if (isAbsence(error)) return 0
    throw error
  }
}

const isAbsence = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
