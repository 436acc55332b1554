/** What the screen of Codex says, and what its composer holds. Pure. Source: fixtures/0.171.0. */
import type { RuleMatch } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { Dialog } from '../provider.ts'
import { type Asked, createScreenReader } from '../screen-reader.ts'
import { readComposer } from './composer.ts'
import { otherLabel, type Prompt, readPrompt } from './prompt.ts'
import { codexRegions, cutRegions } from './regions.ts'
import { codexRules } from './rules.ts'

/** Rules whose options have a second column. */
const withColumns: ReadonlySet<string> = new Set(['tool-approval', 'question', 'notes-field'])

export const codexScreen = createScreenReader({
  regions: codexRegions,
  rules: codexRules,
  cut: (snapshot) => {
    const { composer, dialog, regions } = cutRegions(snapshot)
    return {
      regions,
      composer: readComposer(composer, snapshot.cursor.x),
      ask: (match) => (dialog.length === 0 ? undefined : ask(dialog, match)),
    }
  },
})

export const readCodexScreen = codexScreen.read

/** The dialog on the screen, and the rule that knew it; undefined when there is none. */
export function findPrompt(snapshot: Snapshot): { readonly prompt: Prompt; readonly rule: string } | undefined {
  const { dialog } = cutRegions(snapshot)
  const { match, reading } = codexScreen.explain(snapshot)
  if (match === undefined || dialog.length === 0 || reading.claim?.kind !== 'waiting') return undefined
  return { prompt: readPrompt(dialog, withColumns.has(match.rule.name)), rule: match.rule.name }
}

function ask(lines: readonly string[], { rule }: RuleMatch): Asked {
  const { text, options } = readPrompt(lines, withColumns.has(rule.name))
  const asked = options.at(-1) === otherLabel ? options.slice(0, -1) : options
  return { question: { text, options: asked, vendorId: undefined }, dialog: readStart(rule, text) }
}

/**
 * None of the dialogs of the start is answered by CAO. A directory that brings nothing of its own is trusted on the command
 * line; where Codex still asks, it is about programs that would run by themselves.
 */
function readStart({ says }: RuleMatch['rule'], text: string): Dialog | undefined {
  if (says !== 'trust' && says !== 'login' && says !== 'update') return undefined
  return { reason: says, text, answer: undefined }
}
