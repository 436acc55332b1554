/**
 * The parts of Gemini CLI's screen. It draws below what was said, in the scrollback: a line on its work, a rule across the pane, the
 * mode, a composer behind `>` in the second column, and a footer; or, in their place, a frame with a dialog in it.
 * Pure. Source: fixtures/0.61.0.
 */
import type { Regions } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'

export const geminiRegions = ['status', 'last-turn', 'dialog'] as const
/**
 * `status`: the lines right above the rule. `last-turn`: all since the last prompt in sight, without them. `dialog`: the lines in a
 * frame that ends the screen.
 */
export type GeminiRegion = (typeof geminiRegions)[number]

export type ComposerBox = {
  readonly rows: readonly string[]
  /** Line of the first row on the screen. */
  readonly top: number
}

export type GeminiScreen = {
  readonly composer: ComposerBox | undefined
  /** Lines of the dialog without its frame; empty where there is none. */
  readonly dialog: readonly string[]
  readonly regions: Regions<GeminiRegion>
}

const rulePattern = /^─{20,}$/
/** `*` where nothing is asked, `!` for a shell command. */
const composerPattern = /^ [>*!](?: |$)/
/** Between the rule and the composer: the mode, in one or two lines, and an edge (half blocks where there are many colours). */
const modeLinesMax = 4
const indented = /^ {3}/

export function cutRegions(snapshot: Snapshot): GeminiScreen {
  const lines = snapshot.lines.map((line) => line.trimEnd())
  const found = findComposer(lines)
  if (found !== undefined) {
    const above = lines.slice(0, found.rule)
    const status = above.slice(above.findLastIndex((line) => line === '') + 1)
    const said = above.slice(0, above.length - status.length)
    return {
      composer: found.composer,
      dialog: [],
      regions: {
        status: status.join('\n'),
        'last-turn': said.slice(said.findLastIndex((line) => composerPattern.test(line)) + 1).join('\n'),
        dialog: undefined,
      },
    }
  }
  const dialog = findDialog(lines)
  return {
    composer: undefined,
    dialog,
    regions: {
      status: undefined,
      'last-turn': undefined,
      dialog: dialog.length === 0 ? undefined : dialog.filter((line) => line !== '').join('\n'),
    },
  }
}

/** The last rule that a composer follows. Below it stand its draft, a menu, and the footer. */
function findComposer(lines: readonly string[]): { readonly composer: ComposerBox; readonly rule: number } | undefined {
  for (let rule = lines.length - 1; rule >= 0; rule--) {
    if (!rulePattern.test(lines[rule] ?? '')) continue
    const at = lines.slice(rule + 1, rule + 1 + modeLinesMax).findIndex((line) => composerPattern.test(line))
    if (at < 0) continue
    const top = rule + 1 + at
    const after = lines.slice(top + 1)
    const length = after.findIndex((line) => line !== '' && !indented.test(line))
    const rows = [lines[top] ?? '', ...after.slice(0, length < 0 ? after.length : length)]
    const last = rows.findLastIndex((row) => row !== '')
    return { composer: { rows: rows.slice(0, last + 1), top }, rule }
  }
  return undefined
}

const topPattern = /^ ?╭─+╮$/
const bottomPattern = /^ ?╰─+╯$/

/** The frame that ends the screen. One that is taller than the pane is taken from the top of the screen. */
function findDialog(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line !== '')
  const bottom = lines[last] ?? ''
  if (!bottomPattern.test(bottom)) return []
  const top = lines.slice(0, last).findLastIndex((line) => topPattern.test(line) && line.length === bottom.length)
  const inside = lines.slice(top + 1, last)
  return inside.map((line) =>
    line
      .replace(/^ ?│ ?/, '')
      .replace(/ *│$/, '')
      .trimEnd(),
  )
}
