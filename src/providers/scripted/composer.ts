/** What the scripted agent's composer holds. Pure. */
import { type BottomBox, joinRows } from '../../screen/box.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { Composer } from '../provider.ts'

/** Shown while the composer is empty, cut to its width. */
const ghostText = 'Say what to do, or give rules'
/** Columns of the border and the prompt glyph: where the cursor stands in an empty composer. */
const promptCols = 4
const placeholder = /^\[Pasted (\d+) lines · (\d+) chars\]$/

/** `chars` counts UTF-16 units, as JavaScript does. A paste beside other text is a draft that shows its placeholder. */
export function readComposer(box: BottomBox | undefined, snapshot: Snapshot): Composer {
  if (box === undefined || box.title !== undefined) return { kind: 'absent' }
  const text = joinRows(box.rows, 2).join('\n')
  if (text === '' || isGhost(text, snapshot)) return { kind: 'empty' }
  const [whole, lines, chars] = placeholder.exec(text) ?? []
  if (whole !== undefined) return { kind: 'collapsed', chars: Number(chars), lines: Number(lines) }
  return { kind: 'draft', text }
}

/** The same words as a draft would have the cursor behind them. */
function isGhost(text: string, snapshot: Snapshot): boolean {
  const isGhostText = text.endsWith('…') ? ghostText.startsWith(text.slice(0, -1)) : text === ghostText
  return isGhostText && snapshot.cursor.x <= promptCols
}
