/**
 * The parts of Copilot CLI's screen. It draws on the alternate screen: at the bottom a composer between two rules as wide as the
 * screen and one line of footer; in its place a frame as wide as the screen (trust, permission), or a form between two rules.
 * What an agent says is above and indented, with a scroll bar at its right. Pure. Source: fixtures/1.0.102.
 */
import type { Regions } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'

export type CopilotRegion =
  /** What stands in a frame or a form, first line to last. */
  | 'dialog'
  /** The last line of it: its keys. */
  | 'keys'
  | 'footer'
  /** The last of what was said and done, from its first line on. */
  | 'turn'
export const copilotRegions: readonly CopilotRegion[] = ['dialog', 'keys', 'footer', 'turn']

export type CopilotScreen = {
  /** Rows with prompt glyph and indent. */
  readonly composer: readonly string[] | undefined
  readonly dialog: readonly string[]
  /** What stands in the field below a form, for an answer in one's own words; undefined where there is none. */
  readonly field: string | undefined
  readonly regions: Regions<CopilotRegion>
}

/** A prompt, or a shell command after `!`. */
const promptPattern = /^[❯!](?:\s|$)/
const framePattern = /^│ (.*?) *│$/
/** A menu of commands, or of files, stands below the composer. */
const footerLinesMax = 14

export function cutRegions(snapshot: Snapshot): CopilotScreen {
  const lines = snapshot.lines.map((line) => line.trimEnd())
  const { cols } = snapshot.size
  const found = findComposer(lines, cols)
  const isField = found !== undefined && isRule(lines[found.top - 1] ?? '', cols)
  if (found !== undefined && !isField) {
    const footer = lines
      .slice(found.bottom + 1)
      .filter((line) => line !== '')
      .join('\n')
    const turn = readTurn(lines.slice(0, found.top))
    return {
      composer: found.rows,
      dialog: [],
      field: undefined,
      regions: { dialog: undefined, keys: undefined, footer, turn },
    }
  }
  const end = isField ? found.top : lines.length
  const dialog = findFrame(lines, cols) ?? findForm(lines.slice(0, end), cols) ?? []
  const text = dialog.length === 0 ? undefined : dialog.join('\n')
  const keys = dialog.findLast((line) => line.trim() !== '')
  const field = isField
    ? found.rows
        .map((row) => row.slice(2))
        .join(' ')
        .trim()
    : undefined
  return { composer: undefined, dialog, field, regions: { dialog: text, keys, footer: undefined, turn: undefined } }
}

const isRule = (line: string, cols: number): boolean => /^─+$/.test(line) && line.length >= cols - 1

type Box = { readonly rows: readonly string[]; readonly top: number; readonly bottom: number }

function findComposer(lines: readonly string[], cols: number): Box | undefined {
  const bottom = lines.findLastIndex((line) => isRule(line, cols))
  if (bottom < 0 || lines.slice(bottom + 1).filter((line) => line !== '').length > footerLinesMax) return undefined
  const top = lines.slice(0, bottom).findLastIndex((line) => isRule(line, cols))
  const rows = lines.slice(top + 1, bottom)
  return top < 0 || !promptPattern.test(rows[0] ?? '') ? undefined : { rows, top, bottom }
}

/** The frame that ends the screen. A tall one has lost its upper border. */
function findFrame(lines: readonly string[], cols: number): readonly string[] | undefined {
  const last = lines.findLastIndex((line) => line !== '')
  if (!/^╰─+╯$/.test(lines[last] ?? '') || (lines[last] ?? '').length < cols - 1) return undefined
  const top = lines.slice(0, last).findLastIndex((line) => !line.startsWith('│'))
  return lines.slice(top + 1, last).map((line) => framePattern.exec(line)?.[1] ?? line.slice(2))
}

function findForm(lines: readonly string[], cols: number): readonly string[] | undefined {
  const last = lines.findLastIndex((line) => line !== '')
  if (!isRule(lines[last] ?? '', cols)) return undefined
  const top = lines.slice(0, last).findLastIndex((line) => isRule(line, cols))
  return top < 0 ? undefined : lines.slice(top + 1, last)
}

const scrollBar = / *┃$/

function readTurn(above: readonly string[]): string {
  const said = above.map((line) => line.replace(scrollBar, ''))
  const begin = said.findLastIndex((line) => /^ [^\s/]/.test(line))
  return begin < 0 ? '' : said.slice(begin).join('\n').trimEnd()
}
