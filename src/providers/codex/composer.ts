/** What Codex's composer holds. Pure. Source: fixtures/0.171.0. */
import type { Composer } from '../provider.ts'
import type { ComposerBox } from './regions.ts'

/** Stands in an empty composer. */
const ghost = 'Ask Codex to do anything'
const collapsedPattern = /^\[Pasted Content (\d+) chars\](?: #\d+)?$/
/** Columns of the prompt glyph, and of the indent below it. */
const indentCols = 2

export function readComposer(box: ComposerBox | undefined, cursorX: number): Composer {
  if (box === undefined) return { kind: 'absent' }
  const text = box.rows
    .map((row) => row.slice(indentCols))
    .join('\n')
    .trimEnd()
  // What follows `!` would be run by a shell.
  if (box.rows[0]?.startsWith('!') === true) return { kind: 'draft', text: `! ${text}` }
  // The same words as a draft have the cursor behind them.
  if (text === '' || (text === ghost && cursorX <= indentCols)) return { kind: 'empty' }
  const chars = collapsedPattern.exec(text)?.[1]
  if (chars !== undefined) return { kind: 'collapsed', chars: Number(chars), lines: undefined }
  return { kind: 'draft', text }
}
