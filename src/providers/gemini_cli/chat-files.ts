/**
 * Finds and reads the records of one agent's conversations. They lie in the agent's own home, below a folder that Gemini CLI names
 * after the project, so whatever is there is of this agent. A person's `/clear` begins another file; sub-agents have folders
 * of their own, which are not read. Nothing is ever written there.
 */
import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseFields, textOf } from '../fields.ts'
import { type ChatRecord, parseChat, type Reading } from './chat-record.ts'

const namePattern = /^session-.*\.jsonl$/

/** The folder of the records; undefined when there is none yet. */
export async function findChatsDir(geminiDir: string): Promise<string | undefined> {
  const temp = join(geminiDir, 'tmp')
  for (const project of await listFolder(temp)) {
    const dir = join(temp, project, 'chats')
    if ((await listFolder(dir)).some((name) => namePattern.test(name))) return dir
  }
  return undefined
}

/** Names of the records, the oldest first. */
export async function listChats(chatsDir: string): Promise<readonly string[]> {
  return (await listFolder(chatsDir)).filter((name) => namePattern.test(name)).toSorted()
}

export type ReadOutcome = {
  readonly records: readonly ChatRecord[]
  readonly reading: Reading
  readonly nextOffset: number
  /** Where the beginning was read, the id of the conversation. */
  readonly sessionId: string | undefined
}

/** What was written since `offset`, up to the last whole line. Empty when the file is gone. */
export async function readChat(path: string, offset: number, before: Reading): Promise<ReadOutcome> {
  const nothing = { records: [], reading: before, nextOffset: offset, sessionId: undefined }
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    if (size <= offset) return nothing
    const bytes = Buffer.alloc(size - offset)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1
    const text = bytes.toString('utf8', 0, end)
    const { records, reading } = parseChat(text, before)
    return { records, reading, nextOffset: offset + end, sessionId: offset === 0 ? readSessionId(text) : undefined }
  } catch (error) {
    if (isAbsent(error)) return nothing
    throw error
  }
}

const readSessionId = (text: string): string | undefined =>
  textOf(parseFields(text.split('\n', 1)[0] ?? '') ?? {}, 'sessionId')

/** All of one record; undefined when it is gone. */
export async function loadChat(path: string): Promise<readonly ChatRecord[] | undefined> {
  const text = await readIfThere(path)
  return text === undefined ? undefined : parseChat(text.slice(0, text.lastIndexOf('\n') + 1)).records
}

/** Whether the conversation of that id has a prompt, without which it can not be taken up. */
export async function findConversation(geminiDir: string, sessionId: string): Promise<boolean> {
  const dir = await findChatsDir(geminiDir)
  if (dir === undefined) return false
  for (const name of await listChats(dir)) {
    const text = (await readIfThere(join(dir, name))) ?? ''
    if (readSessionId(text) === sessionId && parseChat(text).records.some(({ kind }) => kind === 'prompt')) return true
  }
  return false
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return undefined
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
