/** What Claude Code's composer holds. Pure. Source: fixtures/2.1.332/screens. */
import type { Snapshot } from '../../screen/snapshot.ts'
import type { Composer } from '../provider.ts'
import type { ComposerBox } from './regions.ts'

/** Texts that stand in an empty composer. Suggestions of a next prompt are switched off at the launch. */
const ghosts: readonly RegExp[] = [/^Press up to edit queued messages$/, /^Resend your message to try again$/, /^Try "/]
const collapsedPattern = /^\[Pasted text #\d+(?: \+(\d+) lines)?\]$/
/** Columns of the prompt glyph: where the cursor stands in an empty composer. */
const promptCols = 2

export function readComposer(box: ComposerBox | undefined, snapshot: Snapshot): Composer {
  if (box === undefined) return { kind: 'absent' }
  const [first = '', ...rest] = box.rows
  const lines = [first.slice(promptCols), ...rest.map((row) => row.replace(/^ {2}/, ''))]
  const text = lines.join('\n').trimEnd()
  // What follows `!` would be run by a shell.
  if (first.startsWith('!')) return { kind: 'draft', text: `! ${text}` }
  if (text === '' || isGhost(text, box, snapshot)) return { kind: 'empty' }
  const [whole, newlines = '0'] = collapsedPattern.exec(text) ?? []
  if (whole !== undefined) return { kind: 'collapsed', chars: undefined, lines: Number(newlines) + 1 }
  return { kind: 'draft', text }
}

/** The same words as a draft have the cursor behind them. */
function isGhost(text: string, box: ComposerBox, { cursor }: Snapshot): boolean {
  return cursor.y === box.top && cursor.x <= promptCols && ghosts.some((ghost) => ghost.test(text))
}
