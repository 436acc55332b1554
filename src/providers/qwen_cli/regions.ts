/**
 * The parts of Qwen Code's screen. It draws on the alternate screen: what was said, with a scroll bar at the right, and at the bottom a
 * composer behind `>` between two rules, and a footer; or, in the composer's place, a dialog. Pure. Source: fixtures/0.24.4.
 */
import type { Regions } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'

export const qwenRegions = ['status', 'footer', 'dialog'] as const
/**
 * `status`: the lines right above the composer's rule. `footer`: below it. `dialog`: in the composer's place, from below what was last
 * said or done.
 */
export type QwenRegion = (typeof qwenRegions)[number]

export type ComposerBox = {
  readonly rows: readonly string[]
  /** Line of the first row on the screen. */
  readonly top: number
}

export type QwenScreen = {
  readonly composer: ComposerBox | undefined
  /** Lines of the dialog; empty where there is none. */
  readonly dialog: readonly string[]
  readonly regions: Regions<QwenRegion>
}

const rulePattern = /^─{20,}$/
/** `*` where nothing is asked, `!` for a shell command. */
const composerPattern = /^[>*!](?: |$)/
const scrollBar = / *[│█]$/
const optionPattern = /^ *[›❯]? ?1\. \S/
/** What was said, asked or done: nothing of it belongs to a dialog below it. */
const saidPattern = /^ {2}(?:[>◆●✓✕⊷-]|\? ).*|^─{20,}$/
const borderPattern = /^ *[╭╰]─+╮?╯?$/

export function cutRegions(snapshot: Snapshot): QwenScreen {
  const lines = snapshot.lines.map((line) => line.trimEnd())
  const found = findComposer(lines)
  if (found !== undefined) {
    const above = lines.slice(0, found.composer.top - 1)
    const status = above.slice(above.findLastIndex((line) => line.replace(scrollBar, '') === '') + 1)
    return {
      composer: found.composer,
      dialog: [],
      regions: {
        status: status.join('\n'),
        footer: found.footer.filter((line) => line !== '').join('\n'),
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
      footer: undefined,
      dialog: dialog.length === 0 ? undefined : dialog.filter((line) => line !== '').join('\n'),
    },
  }
}

function findComposer(
  lines: readonly string[],
): { readonly composer: ComposerBox; readonly footer: readonly string[] } | undefined {
  const bottom = lines.findLastIndex((line) => rulePattern.test(line))
  const rule = lines.slice(0, Math.max(bottom, 0)).findLastIndex((line) => rulePattern.test(line))
  if (rule < 0 || !composerPattern.test(lines[rule + 1] ?? '')) return undefined
  const rows = lines.slice(rule + 1, bottom)
  // Between the rules stands nothing but the draft, which is indented.
  if (rows.slice(1).some((row) => row !== '' && !row.startsWith('  '))) return undefined
  return { composer: { rows, top: rule + 1 }, footer: lines.slice(bottom + 1) }
}

/** From below what was last said above its first option. */
function findDialog(lines: readonly string[]): readonly string[] {
  const bare = lines.map((line) => line.replace(scrollBar, ''))
  const option = bare.findLastIndex((line) => optionPattern.test(line.replace(/^ *│/, '')))
  if (option < 0) return []
  const said = bare.slice(0, option).findLastIndex((line) => saidPattern.test(line) || borderPattern.test(line))
  const from = saidPattern.test(bare[said] ?? '') && /^ {2}\? /.test(bare[said] ?? '') ? said : said + 1
  return bare
    .slice(from)
    .filter((line) => !borderPattern.test(line))
    .map((line) => line.replace(/^ *│ ?/, '').trim())
}
