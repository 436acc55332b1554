/**
 * Finds and reads the records of one agent's conversations: files of one JSON object a line, appended to. They lie in a place of this
 * agent alone, below a folder that the program names after the project, so whatever is there is of this agent. A person's
 * `/clear` begins another file. Nothing is ever written there.
 */
import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fields, parseFields } from '../fields.ts'
import type { ChatRecord } from './turn.ts'

/** Reads the lines of one file in order. */
export interface ChatParser {
  feed(fields: Fields): readonly ChatRecord[]
}

export type ChatLayout = {
  /** Below it is a folder for each project, with `chats` in it. */
  readonly projectsDir: string
  readonly namePattern: RegExp
  readonly newParser: () => ChatParser
  /** The program's id of the conversation in a file. `head`: its first line. */
  readonly readSessionId: (name: string, head: Fields) => string | undefined
}

/** The folder of the records; undefined when there is none yet. */
export async function findChatsDir({ projectsDir, namePattern }: ChatLayout): Promise<string | undefined> {
  for (const project of await listFolder(projectsDir)) {
    const dir = join(projectsDir, project, 'chats')
    if ((await listFolder(dir)).some((name) => namePattern.test(name))) return dir
  }
  return undefined
}

/** Names of the records. */
export async function listChats(chatsDir: string, { namePattern }: ChatLayout): Promise<readonly string[]> {
  return (await listFolder(chatsDir)).filter((name) => namePattern.test(name)).toSorted()
}

/** What was written since `offset`, up to the last whole line. Empty when the file is gone. */
export async function readChat(
  path: string,
  offset: number,
  parser: ChatParser,
): Promise<{ readonly records: readonly ChatRecord[]; readonly nextOffset: number }> {
  const nothing = { records: [], nextOffset: offset }
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    if (size <= offset) return nothing
    const bytes = Buffer.alloc(size - offset)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1
    return { records: parseChat(bytes.toString('utf8', 0, end), parser), nextOffset: offset + end }
  } catch (error) {
    if (isAbsent(error)) return nothing
    throw error
  }
}

/** A line that is still being written must not be in `text`; what can not be read is left out. */
export function parseChat(text: string, parser: ChatParser): readonly ChatRecord[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.startsWith('{') ? parseFields(line) : undefined
    return fields === undefined ? [] : parser.feed(fields)
  })
}

export type LoadedChat = { readonly sessionId: string | undefined; readonly records: readonly ChatRecord[] }

/** All of one record; without anything in it when it is gone. */
export async function loadChat(chatsDir: string, name: string, layout: ChatLayout): Promise<LoadedChat> {
  const text = await readIfThere(join(chatsDir, name))
  const head = parseFields(text.split('\n', 1)[0] ?? '') ?? {}
  const records = parseChat(text.slice(0, text.lastIndexOf('\n') + 1), layout.newParser())
  return { sessionId: layout.readSessionId(name, head), records }
}

/** Whether the conversation of that id has a prompt, without which it can not be taken up. */
export async function hasConversation(layout: ChatLayout, sessionId: string): Promise<boolean> {
  const dir = await findChatsDir(layout)
  if (dir === undefined) return false
  const chats = await Promise.all((await listChats(dir, layout)).map((name) => loadChat(dir, name, layout)))
  return chats.some((chat) => chat.sessionId === sessionId && chat.records.some(({ kind }) => kind === 'prompt'))
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return ''
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
