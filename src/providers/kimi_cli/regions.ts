/**
 * The parts of Kimi Code's screen. It draws inline, everything one column in: at the bottom a composer in a frame, with a
 * footer of two lines below it, or a dialog between two rules in the composer's place. What it is at stands directly above
 * the frame, or above the panels (queue, list of things to do) that a rule begins there; at rest that place is blank. What an
 * agent says is further in and followed by a blank line. Pure. Source: fixtures/2.1.0.
 */
import type { Regions } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'

export type KimiRegion =
  /** What stands in a dialog, first line to last. */
  | 'dialog'
  /** The last line of a dialog: its keys. */
  | 'keys'
  /** What the program is at. */
  | 'activity'
  | 'footer'
  /** The program's own head. */
  | 'head'
export const kimiRegions: readonly KimiRegion[] = ['dialog', 'keys', 'activity', 'footer', 'head']

export type KimiScreen = {
  /** Rows of the composer with their prompt, without the frame. */
  readonly composer: readonly string[] | undefined
  readonly dialog: readonly string[]
  readonly regions: Regions<KimiRegion>
}

const topPattern = /^ ╭[─ ].*╮$/
const bottomPattern = /^ ╰─+╯$/
const rowPattern = /^ │ (.*) │$/
const promptPattern = /^[>!] /
/** A menu of commands stands between composer and footer. */
const belowLinesMax = 16
const rulePattern = /^ ─{20,}$/
/** Below a dialog stands the footer, or nothing. */
const footerLinesMax = 3

export function cutRegions(snapshot: Snapshot): KimiScreen {
  const lines = snapshot.lines.map((line) => line.trimEnd())
  const box = findComposer(lines)
  if (box === undefined) {
    const dialog = findDialog(lines)
    const keys = dialog.findLast((line) => line !== '')
    const text = dialog.length === 0 ? undefined : dialog.join('\n')
    return { composer: undefined, dialog, regions: { dialog: text, keys, activity: undefined, ...rest(lines) } }
  }
  const activity = findActivity(lines.slice(0, box.top)).join('\n')
  const footer = lines.slice(box.bottom + 1).join('\n')
  const regions = { ...rest(lines), dialog: undefined, keys: undefined, activity, footer }
  return { composer: box.rows, dialog: [], regions }
}

/** The head scrolls away with time. */
function rest(lines: readonly string[]): { readonly footer: undefined; readonly head: string | undefined } {
  const head = lines.filter((line) => /^ │ {2}\S/.test(line)).join('\n')
  return { footer: undefined, head: head === '' ? undefined : head }
}

type Box = { readonly rows: readonly string[]; readonly top: number; readonly bottom: number }

function findComposer(lines: readonly string[]): Box | undefined {
  const bottom = lines.findLastIndex((line) => bottomPattern.test(line))
  if (bottom < 0 || lines.slice(bottom + 1).filter((line) => line !== '').length > belowLinesMax) return undefined
  const top = lines.slice(0, bottom).findLastIndex((line) => topPattern.test(line))
  const rows = lines.slice(top + 1, bottom).map((line) => rowPattern.exec(line)?.[1])
  if (top < 0 || !promptPattern.test(`${rows[0] ?? ''} `)) return undefined
  return { rows: rows.map((row) => row ?? ''), top, bottom }
}

/** The lines that touch the composer or the panels above it. */
function findActivity(above: readonly string[]): readonly string[] {
  const end = findPanels(above)
  const from = above.slice(0, end).findLastIndex((line) => line === '') + 1
  return above.slice(from, end)
}

/** Where the panels above the composer begin: the first of the rules with no blank line below them. */
function findPanels(above: readonly string[]): number {
  const blank = above.findLastIndex((line) => line === '')
  const rule = above.findIndex((line, at) => at > blank && rulePattern.test(line))
  return rule < 0 ? above.length : rule
}

function findDialog(lines: readonly string[]): readonly string[] {
  const bottom = lines.findLastIndex((line) => rulePattern.test(line))
  if (bottom < 0 || lines.slice(bottom + 1).filter((line) => line !== '').length > footerLinesMax) return []
  // A long dialog has lost its upper rule.
  const top = lines.slice(0, bottom).findLastIndex((line) => rulePattern.test(line))
  return lines.slice(top + 1, bottom)
}
