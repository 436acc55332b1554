/**
 * The parts of Codex's screen. It draws on the alternate screen: at the bottom a composer behind a `›` in the first column,
 * a blank row, and a footer that names model and directory; or, in the composer's place, a dialog that ends with the keys
 * that it takes. What was said is above; a prompt begins with `›`, an activity with a bullet, all else is indented.
 * Pure. Source: fixtures/0.171.0.
 */
import type { Regions } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'

export const codexRegions = ['footer', 'activity', 'last-turn', 'dialog', 'ending'] as const
/**
 * `footer`: below the composer. `activity`: the last line above it that begins in the first column, with what belongs to it.
 * `last-turn`: all since the last prompt in sight. `dialog`: in the composer's place, from its heading on.
 * `ending`: its last lines, which name keys.
 */
export type CodexRegion = (typeof codexRegions)[number]

export type ComposerBox = {
  readonly rows: readonly string[]
  /** Line of the first row on the screen. */
  readonly top: number
}

export type CodexScreen = {
  readonly composer: ComposerBox | undefined
  /** Lines of the dialog; empty where there is none. */
  readonly dialog: readonly string[]
  readonly regions: Regions<CodexRegion>
}

const composerPattern = /^[›»!](?: |$)/
/** Model and directory; in other versions what is left of the context. */
const footerPattern = / · (?:~|\/)|\? for shortcuts|\bcontext\b.*\bleft\b/i
/** What a dialog says of its keys. */
const keysPattern = /\benter\b.* (?:confirm|continue|submit|select)|\besc (?:to )?(?:cancel|back|skip|dismiss)/i
const endingLinesMax = 3
const footerLinesMax = 5

export function cutRegions(snapshot: Snapshot): CodexScreen {
  const lines = snapshot.lines.map((line) => line.trimEnd())
  const found = findComposer(lines)
  if (found !== undefined) {
    const above = lines.slice(0, found.composer.top)
    return {
      composer: found.composer,
      dialog: [],
      regions: {
        footer: found.footer.join('\n'),
        activity: above.slice(Math.max(above.findLastIndex(isFlush), 0)).join('\n'),
        'last-turn': above.slice(above.findLastIndex(isPrompt) + 1).join('\n'),
        dialog: undefined,
        ending: undefined,
      },
    }
  }
  const dialog = findDialog(lines)
  const filled = dialog.filter((line) => line !== '')
  const none = dialog.length === 0
  return {
    composer: undefined,
    dialog,
    regions: {
      footer: undefined,
      activity: undefined,
      'last-turn': undefined,
      dialog: none ? undefined : filled.join('\n'),
      ending: none ? undefined : filled.slice(-endingLinesMax).join('\n'),
    },
  }
}

/** What was asked; the menu of commands marks its choice in the same way. */
const isPrompt = (line: string): boolean => /^[›»] /.test(line) && !/^[›»] \/\S+ {2,}\S/.test(line)
const isFlush = (line: string): boolean => /^\S/.test(line)

function findComposer(
  lines: readonly string[],
): { readonly composer: ComposerBox; readonly footer: readonly string[] } | undefined {
  const last = lines.findLastIndex((line) => line !== '')
  const blank = lines.slice(0, last + 1).lastIndexOf('')
  // Some versions leave no blank row below an empty composer.
  const gap = composerPattern.test(lines[blank + 1] ?? '') ? blank + 2 : blank
  const footer = lines.slice(gap, last + 1).filter((line) => line !== '')
  if (gap < 0 || footer.length > footerLinesMax || !footer.some((line) => footerPattern.test(line))) return undefined
  const top = lines.slice(0, gap).findLastIndex((line) => composerPattern.test(line))
  // Between the prompt and the footer stands nothing but the draft, which is indented.
  if (top < 0 || lines.slice(top + 1, gap).some(isFlush)) return undefined
  const rows = lines.slice(top, gap)
  return { composer: { rows, top }, footer }
}

const optionPattern = /^ *[›>]? ?1\. \S/

/** What was said or done above a dialog. */
const isSaid = (line: string): boolean => /^[•◦›»■✔✗] /.test(line)

/** From below what was last said above its first option, or from the top of the screen. */
function findDialog(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line !== '')
  const filled = lines.slice(0, last + 1).filter((line) => line !== '')
  if (!filled.slice(-endingLinesMax).some((line) => keysPattern.test(line))) return []
  const option = lines.findLastIndex((line) => optionPattern.test(line))
  const above = lines.slice(0, option < 0 ? last : option)
  const flush = above.findLastIndex(isSaid)
  // What belongs to an activity goes on below it, up to a blank row.
  const gap = flush < 0 ? -1 : above.indexOf('', flush)
  return lines.slice((flush >= 0 && gap < 0 ? flush : gap) + 1, last + 1)
}
