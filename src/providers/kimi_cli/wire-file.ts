/** Finding and reading the record of a conversation: `sessions/PROJECT/SESSION/agents/main/wire.jsonl`. Nothing is written. */
import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseWire, type WireRecord } from './wire.ts'

/** The record of a conversation, whatever its project; undefined when it has none yet. */
export async function findWire(homeDir: string, sessionId: string): Promise<string | undefined> {
  const sessions = join(homeDir, 'sessions')
  for (const project of await listFolder(sessions)) {
    const path = join(sessions, project, sessionId, 'agents', 'main', 'wire.jsonl')
    if (await isThere(path)) return path
  }
  return undefined
}

/** undefined when it is gone. */
export async function loadWire(path: string): Promise<readonly WireRecord[] | undefined> {
  try {
    return parseWire(await readFile(path, 'utf8'))
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
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
