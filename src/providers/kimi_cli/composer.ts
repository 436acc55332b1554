/** What Kimi Code's composer holds. Pure. Source: fixtures/2.1.0. */
import type { Composer } from '../provider.ts'

const collapsedPattern = /^\[paste #\d+(?: \+(\d+) lines| (\d+) chars)?\]$/
/** Columns of the prompt, and of the indent below it. */
const promptCols = 2

export function readComposer(rows: readonly string[] | undefined): Composer {
  if (rows === undefined) return { kind: 'absent' }
  const text = rows
    .map((row) => row.slice(promptCols).trimEnd())
    .join('\n')
    .trimEnd()
  // What follows `!` would be run by a shell.
  if (rows[0]?.startsWith('!') === true) return { kind: 'draft', text: `! ${text}` }
  if (text === '') return { kind: 'empty' }
  const [whole, lines, chars] = collapsedPattern.exec(text) ?? []
  if (whole === undefined) return { kind: 'draft', text }
  const count = (digits: string | undefined) => (digits === undefined ? undefined : Number(digits))
  return { kind: 'collapsed', chars: count(chars), lines: count(lines) }
}
