/** Reads the record that a scripted agent keeps: one JSON text a line, only ever appended to. */
import { readFile } from 'node:fs/promises'

export type RecordLine = {
  readonly type: string
  readonly id: string
  readonly turn: string
  readonly text: string
}

export type RecordOutcome =
  | { readonly kind: 'read'; readonly lines: readonly RecordLine[] }
  | { readonly kind: 'unreadable'; readonly why: string }

export async function loadRecord(path: string): Promise<RecordOutcome> {
  try {
    return { kind: 'read', lines: parseRecord(await readFile(path, 'utf8')) }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return { kind: 'unreadable', why: `${path}: ${String(error.code)}` }
  }
}

/** Whole lines of the known shape; a last line that is still being written is left out. */
export function parseRecord(text: string): readonly RecordLine[] {
  return text.split('\n').flatMap((line) => {
    const record = parseLine(line)
    return record === undefined ? [] : [record]
  })
}

function parseLine(line: string): RecordLine | undefined {
  if (!line.startsWith('{') || !line.endsWith('}')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isRecord(value: unknown): value is RecordLine {
  if (typeof value !== 'object' || value === null) return false
  const fields = ['type', 'id', 'turn', 'text'] as const
  return fields.every((field) => field in value && typeof (value as Record<string, unknown>)[field] === 'string')
}

export type TurnRecord =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'ended'; readonly how: string }
  /** A turn is running, or its end is not written yet. */
  | { readonly kind: 'open' }
  | { readonly kind: 'none' }

const endTypes = new Set(['assistant', 'interrupted', 'error'])

/** How turn `turn` ended; without it, how the newest turn did. */
export function findTurn(lines: readonly RecordLine[], turn: string | undefined): TurnRecord {
  const wanted = turn ?? lines.findLast((line) => line.type === 'user')?.turn
  if (wanted === undefined) return { kind: 'none' }
  const end = lines.findLast((line) => line.turn === wanted && endTypes.has(line.type))
  if (end === undefined) return { kind: 'open' }
  return end.type === 'assistant' ? { kind: 'answered', text: end.text } : { kind: 'ended', how: end.type }
}
