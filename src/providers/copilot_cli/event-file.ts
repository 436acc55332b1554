/** Reading the record of a conversation: `session-state/SESSION/events.jsonl`. Nothing is written. */
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CopilotEvent, parseEvents } from './events.ts'

export const eventsPath = (configDir: string, sessionId: string): string =>
  join(configDir, 'session-state', sessionId, 'events.jsonl')

export type ReadOutcome = {
  readonly events: readonly CopilotEvent[]
  readonly nextOffset: number
  /** The record has become shorter: the program took back a prompt that was broken off before a word came. */
  readonly isCut: boolean
}

/** What was written since `offset`, up to the last whole line. Empty when there is no record. */
export async function readEvents(path: string, offset: number): Promise<ReadOutcome> {
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    if (size < offset) return { events: [], nextOffset: size, isCut: true }
    if (size === offset) return { events: [], nextOffset: offset, isCut: false }
    const bytes = Buffer.alloc(size - offset)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1
    return { events: parseEvents(bytes.toString('utf8', 0, end)), nextOffset: offset + end, isCut: false }
  } catch (error) {
    if (isAbsent(error)) return { events: [], nextOffset: offset, isCut: false }
    throw error
  }
}

/** All of it; undefined when there is none. */
export async function loadEvents(path: string): Promise<readonly CopilotEvent[] | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    return parseEvents(text.slice(0, text.lastIndexOf('\n') + 1))
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** Units: bytes; 0 when there is none. */
export async function sizeOfEvents(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isAbsent(error)) return 0
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
