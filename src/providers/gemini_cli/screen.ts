/** What the screen of Gemini CLI says, and what its composer holds. Pure. Source: fixtures/0.61.0. */
import type { RuleMatch } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { Dialog } from '../provider.ts'
import { type Asked, createScreenReader } from '../screen-reader.ts'
import { readComposer } from './composer.ts'
import { otherLabel, type Prompt, readPrompt } from './prompt.ts'
import { cutRegions, geminiRegions } from './regions.ts'
import { geminiRules } from './rules.ts'

export const geminiScreen = createScreenReader({
  regions: geminiRegions,
  rules: geminiRules,
  cut: (snapshot) => {
    const { composer, dialog, regions } = cutRegions(snapshot)
    return {
      regions,
      composer: readComposer(composer, snapshot.cursor),
      ask: (match) => (dialog.length === 0 ? undefined : ask(dialog, match)),
    }
  },
})

export const readGeminiScreen = geminiScreen.read

/** The dialog on the screen, and the rule that knew it; undefined when there is none. */
export function findPrompt(snapshot: Snapshot): { readonly prompt: Prompt; readonly rule: string } | undefined {
  const { dialog } = cutRegions(snapshot)
  const { match, reading } = geminiScreen.explain(snapshot)
  if (match === undefined || dialog.length === 0 || reading.claim?.kind !== 'waiting') return undefined
  return { prompt: readPrompt(dialog), rule: match.rule.name }
}

function ask(lines: readonly string[], { rule }: RuleMatch): Asked {
  const { text, options, field } = readPrompt(lines)
  const asked = options.at(-1) === otherLabel || field !== undefined ? options.slice(0, -1) : options
  return { question: { text, options: asked, vendorId: undefined }, dialog: readStart(rule, text) }
}

/**
 * None of the dialogs of the start is answered by CAO. A directory that brings nothing of its own is trusted on the command line;
 * where Gemini CLI still asks, it is about settings and programs of that folder.
 */
function readStart({ says }: RuleMatch['rule'], text: string): Dialog | undefined {
  if (says !== 'trust' && says !== 'login' && says !== 'update') return undefined
  return { reason: says, text, answer: undefined }
}
