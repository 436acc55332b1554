/** From what tmux captured to the snapshot that the rest of CAO reads. */
import type { Snapshot } from '../../screen/snapshot.ts'
import type { PaneFacts } from '../../tmux/pane-fields.ts'

const utf8 = new TextDecoder('utf-8')

export function toSnapshot(facts: PaneFacts, lines: readonly Uint8Array[], atMs: number): Snapshot {
  return {
    lines: lines.map((line) => utf8.decode(line).trimEnd()),
    size: facts.size,
    title: facts.title,
    isAlternate: facts.isAlternate,
    cursor: facts.cursor,
    mode: facts.mode,
    isInputOff: facts.isInputOff,
    historyRows: facts.historySize,
    atMs,
  }
}
