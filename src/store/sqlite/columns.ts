/** Columns to values and back. Reading checks the type that the schema promises; a mismatch is a bug of ours. */
import { assert } from '../../lib/assert.ts'
import type { Row } from './database.ts'

export function readText(row: Row, column: string): string {
  const value = row[column]
  assert(typeof value === 'string', `column ${column} holds no text`)
  return value
}

export function readInteger(row: Row, column: string): number {
  const value = row[column]
  assert(typeof value === 'number', `column ${column} holds no integer`)
  return value
}

export function readFlag(row: Row, column: string): boolean {
  return readInteger(row, column) === 1
}

export function readOneOf<T extends string>(row: Row, column: string, allowed: readonly T[]): T {
  const value = readText(row, column)
  const found = allowed.find((each) => each === value)
  assert(found !== undefined, `column ${column} holds ${value}, not one of ${allowed.join(', ')}`)
  return found
}

/** What `read` makes of the column; undefined for NULL. */
export function readOptional<T>(row: Row, column: string, read: (row: Row, column: string) => T): T | undefined {
  return row[column] === null ? undefined : read(row, column)
}

/** A JSON column, trusted to have the shape it was written with. */
export function readJson<T>(row: Row, column: string): T {
  return JSON.parse(readText(row, column)) as T
}

/** JSON text, or NULL for undefined. */
export function writeJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
