/**
 * Finds and reads the record of one conversation. It lies in a folder of the day on which the conversation began, which its
 * id tells; it does not exist before the first prompt. Nothing is ever written there.
 */
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseRollout, type RolloutRecord } from './rollout.ts'

export type FoundRollout = { readonly path: string; readonly sessionId: string }

const dayMs = 24 * 60 * 60 * 1000
const namePattern = /^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/

/** `sessionId` may be cut at its end. undefined when there is no record yet. */
export async function findRollout(configDir: string, sessionId: string): Promise<FoundRollout | undefined> {
  for (const day of daysOf(sessionId)) {
    const dir = join(configDir, 'sessions', ...day)
    for (const name of await listFolder(dir)) {
      const id = namePattern.exec(name)?.[1]
      if (id?.startsWith(sessionId) === true) return { path: join(dir, name), sessionId: id }
    }
  }
  return undefined
}

/** An id begins with its time, milliseconds since 1970 in 48 bits; the folders are of local days. Source: RFC 9562, UUIDv7. */
function daysOf(sessionId: string): readonly (readonly string[])[] {
  const atMs = Number.parseInt(sessionId.replaceAll('-', '').slice(0, 12), 16)
  if (Number.isNaN(atMs)) return []
  return [0, -dayMs, dayMs].map((shiftMs) => new Date(atMs + shiftMs).toISOString().slice(0, 10).split('-'))
}

export type ReadOutcome = { readonly records: readonly RolloutRecord[]; readonly nextOffset: number }

/** What was written since `offset`, up to the last whole line. Empty when the file is gone. */
export async function readRollout(path: string, offset: number): Promise<ReadOutcome> {
  const nothing = { records: [], nextOffset: offset }
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    if (size <= offset) return nothing
    const bytes = Buffer.alloc(size - offset)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1
    return { records: parseRollout(bytes.toString('utf8', 0, end)), nextOffset: offset + end }
  } catch (error) {
    if (isAbsent(error)) return nothing
    throw error
  }
}

/** All of it; undefined when it is gone. */
export async function loadRollout(path: string): Promise<readonly RolloutRecord[] | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    return parseRollout(text.slice(0, text.lastIndexOf('\n') + 1))
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** Units: bytes; 0 when there is none. */
export async function sizeOfRollout(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isAbsent(error)) return 0
    throw error
  }
}

async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
