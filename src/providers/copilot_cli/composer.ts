/** What Copilot CLI's composer holds. Pure. Source: fixtures/1.0.102. */
import type { Composer } from '../provider.ts'

const collapsedPattern = /^\[Paste #\d+ - (\d+) lines\]$/
/** Columns of the prompt glyph, and of the indent below it. */
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
  const lines = collapsedPattern.exec(text)?.[1]
  return lines === undefined ? { kind: 'draft', text } : { kind: 'collapsed', chars: undefined, lines: Number(lines) }
}
