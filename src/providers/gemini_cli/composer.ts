/** What Gemini CLI's composer holds. Pure. Source: fixtures/0.61.0. */
import type { Composer } from '../provider.ts'
import type { ComposerBox } from './regions.ts'

/** Columns before the text. In an empty composer the cursor stands on the first, and the ghost behind it. */
const textColumn = 3
const ghostPattern = /^ {2}(?:Type your message or @path\/to\/file|Type your shell command|Press 'i' for INSERT mode)/
const collapsedPattern = /^\[Pasted Text: (\d+) (lines|chars)(?: #\d+)?\]$/

type Cursor = { readonly x: number; readonly y: number }

export function readComposer(box: ComposerBox | undefined, cursor: Cursor): Composer {
  if (box === undefined) return { kind: 'absent' }
  const rows = box.rows.map((row) => row.slice(textColumn))
  const isAtBegin = cursor.y === box.top && cursor.x === textColumn
  const [first = ''] = rows
  const isGhost = rows.length === 1 && (ghostPattern.test(first) || (isAtBegin && first.startsWith('  ')))
  const text = isGhost ? '' : rows.join('\n').trimEnd()
  // What follows `!` would be run by a shell.
  if (box.rows[0]?.startsWith(' !') === true) return { kind: 'draft', text: `! ${text}`.trimEnd() }
  if (text === '') return { kind: 'empty' }
  const [, count, unit] = collapsedPattern.exec(text) ?? []
  if (count === undefined) return { kind: 'draft', text }
  return unit === 'lines'
    ? { kind: 'collapsed', chars: undefined, lines: Number(count) }
    : { kind: 'collapsed', chars: Number(count), lines: undefined }
}
