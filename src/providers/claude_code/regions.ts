/**
 * The parts of Claude Code's screen. It draws on the alternate screen: at the bottom a composer between two rules as
 * wide as the screen, below it a footer (and sometimes a list of its agents), or a dialog in the composer's place.
 * What an agent says is above and indented, so only what begins in the first column, or stands at the bottom, counts.
 * Pure. Source: fixtures/2.1.332/screens.
 */
import type { Regions } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'

export type ClaudeRegion =
  /** Last line of a screen without a composer. */
  | 'ending'
  /** All of a dialog, when it is a list without numbers. */
  | 'list'
  /** Below the composer. */
  | 'footer'
  /** The last line above the composer that begins in the first column: what the agent is at. */
  | 'activity'
  /** From that line to the composer. */
  | 'turn'

export type ComposerBox = {
  /** Rows with prompt glyph and indent. */
  readonly rows: readonly string[]
  /** Line of the first row on the screen. */
  readonly top: number
}

export type ClaudeScreen = {
  readonly lines: readonly string[]
  readonly composer: ComposerBox | undefined
  readonly regions: Regions<ClaudeRegion>
}

/** A prompt, or a shell command after `!`. */
const promptPattern = /^[❯!](?:\s|$)/
const topRulePattern = /^──.*─$/
/** A menu of files, or the list of agents. */
const footerLinesMax = 14

export function cutRegions(snapshot: Snapshot): ClaudeScreen {
  // The composer pads with no-break spaces.
  const lines = snapshot.lines.map((line) => line.trimEnd())
  const found = findComposer(lines, snapshot.size.cols)
  if (found === undefined) {
    const last = lines.findLast((line) => line !== '')
    const list = findList(lines, snapshot.size.cols)
    const regions = { ending: last, list, footer: undefined, activity: undefined, turn: undefined }
    return { lines, composer: undefined, regions }
  }
  const { composer, bottom } = found
  const above = lines.slice(0, composer.top - 1)
  const begin = above.findLastIndex((line) => /^\S/.test(line))
  return {
    lines,
    composer,
    regions: {
      ending: undefined,
      list: undefined,
      footer: lines.slice(bottom + 1).join('\n'),
      activity: above[begin] ?? '',
      turn: begin < 0 ? '' : above.slice(begin).join('\n'),
    },
  }
}

export function isRule(line: string, cols: number): boolean {
  return line.length === cols && /^─+$/.test(line)
}

function findComposer(
  lines: readonly string[],
  cols: number,
): { readonly composer: ComposerBox; readonly bottom: number } | undefined {
  const bottom = lines.findLastIndex((line) => isRule(line, cols))
  if (bottom < 0 || lines.slice(bottom + 1).filter((line) => line !== '').length > footerLinesMax) return undefined
  // The upper rule may carry the name of the conversation.
  const upper = lines.slice(0, bottom).findLastIndex((line) => topRulePattern.test(line))
  const rows = lines.slice(upper + 1, bottom)
  if (upper < 0 || !promptPattern.test(rows[0] ?? '')) return undefined
  return { composer: { rows, top: upper + 1 }, bottom }
}

/** The dialog below the last rule, when one of its rows is chosen. */
function findList(lines: readonly string[], cols: number): string | undefined {
  const rule = lines.findLastIndex((line) => isRule(line, cols))
  const below = lines.slice(rule + 1)
  return rule >= 0 && below.some((line) => /^ +❯ \S/.test(line)) ? below.join('\n') : undefined
}
