/**
 * The records that the checker compares, read as a stranger would: the agents' transcripts from their files, CAO's rows
 * from its database, opened read-only by path. Nothing of CAO's own code stands between.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export type AgentLine = { readonly type: string; readonly text: string }
/** By terminal id; a terminal whose record is gone has no entry. */
export type AgentRecords = ReadonlyMap<string, readonly AgentLine[]>

export type MessageRow = {
  readonly id: number
  readonly token: string
  readonly kind: string
  readonly senderId: string
  readonly receiverId: string
  readonly jobId: string | undefined
  readonly body: string
  readonly state: string
  readonly detail: string | undefined
}
export type JobRow = {
  readonly id: string
  readonly kind: string
  readonly callerId: string | undefined
  readonly workerId: string | undefined
  readonly task: string
  readonly state: string
}
export type TerminalRow = { readonly id: string; readonly life: string }
export type StoreRows = {
  readonly messages: readonly MessageRow[]
  readonly jobs: readonly JobRow[]
  readonly terminals: readonly TerminalRow[]
}

type Row = Readonly<Record<string, unknown>>
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const optional = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Errors: SQLite's own. */
export function readStore(path: string): StoreRows {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    const all = (sql: string) => database.prepare(sql).all() as readonly Row[]
    return {
      messages: all('SELECT * FROM messages ORDER BY id').map((row) => ({
        id: Number(row['id']),
        token: textOf(row['token']),
        kind: textOf(row['kind']),
        senderId: textOf(row['sender_id']),
        receiverId: textOf(row['receiver_id']),
        jobId: optional(row['job_id']),
        body: textOf(row['body']),
        state: textOf(row['state']),
        detail: optional(row['detail']),
      })),
      jobs: all('SELECT * FROM jobs').map((row) => ({
        id: textOf(row['id']),
        kind: textOf(row['kind']),
        callerId: optional(row['caller_id']),
        workerId: optional(row['worker_id']),
        task: textOf(row['task']),
        state: textOf(row['state']),
      })),
      terminals: all('SELECT id, life FROM terminals').map((row) => ({
        id: textOf(row['id']),
        life: textOf(row['life']),
      })),
    }
  } finally {
    database.close()
  }
}

/** What the scripted agent wrote about itself; undefined when the file is gone. */
export function readAgent(terminalsDir: string, id: string): readonly AgentLine[] | undefined {
  let text: string
  try {
    text = readFileSync(join(terminalsDir, id, 'private', 'transcript.jsonl'), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  return text.split('\n').flatMap((line) => {
    const value = parse(line)
    return value === undefined ? [] : [{ type: textOf(value['type']), text: textOf(value['text']) }]
  })
}

/** undefined for a line that a kill has cut. */
function parse(line: string): Row | undefined {
  try {
    return line === '' ? undefined : (JSON.parse(line) as Row)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
