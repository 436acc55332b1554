/** What Codex's composer holds. Pure. Source: fixtures/0.171.0. */
import type { Composer } from '../provider.ts'
import type { ComposerBox } from './regions.ts'

/** Stand in an empty composer; the later ones are of other versions, which change them. */
const ghosts: ReadonlySet<string> = new Set([
  'Ask Codex to do anything',
  'Write tests for @filename',
  'Explain this codebase',
  'Summarize recent commits',
  'Implement {feature}',
  'Find and fix a bug in @filename',
  'Improve documentation in @filename',
  'Run /review on my current changes',
  'Use /skills to list available skills',
])
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
  if (text === '' || (ghosts.has(text) && cursorX <= indentCols)) return { kind: 'empty' }
  const chars = collapsedPattern.exec(text)?.[1]
  if (chars !== undefined) return { kind: 'collapsed', chars: Number(chars), lines: undefined }
  return { kind: 'draft', text }
}
