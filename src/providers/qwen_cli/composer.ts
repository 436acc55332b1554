/** What Qwen Code's composer holds. Pure. Source: fixtures/0.24.4. */
import type { Composer } from '../provider.ts'
import type { ComposerBox } from './regions.ts'

/** Columns before the text. In an empty composer the cursor stands on the first, and the ghost behind it. */
const textColumn = 2
const ghostPattern = /^ {2}(?:Type your message|Press 'i' for INSERT mode)/
const collapsedPattern = /^\[Pasted Content (\d+) chars\](?: #\d+)?$/
/** Drawn behind the text for the cursor. */
const cursorMark = /[\u200b ]+$/

type Cursor = { readonly x: number; readonly y: number }

export function readComposer(box: ComposerBox | undefined, cursor: Cursor): Composer {
  if (box === undefined) return { kind: 'absent' }
  const rows = box.rows.map((row) => row.slice(textColumn).replace(cursorMark, ''))
  const isAtBegin = cursor.y === box.top && cursor.x === textColumn
  const [first = ''] = rows
  const isGhost = rows.length === 1 && (ghostPattern.test(first) || (isAtBegin && first.startsWith('  ')))
  const text = isGhost ? '' : rows.join('\n').trimEnd()
  // What follows `!` would be run by a shell.
  if (box.rows[0]?.startsWith('!') === true) return { kind: 'draft', text: `! ${text}`.trimEnd() }
  if (text === '') return { kind: 'empty' }
  const chars = collapsedPattern.exec(text)?.[1]
  return chars === undefined ? { kind: 'draft', text } : { kind: 'collapsed', chars: Number(chars), lines: undefined }
}
