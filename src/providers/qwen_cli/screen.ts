/** What the screen of Qwen Code says, and what its composer holds. Pure. Source: fixtures/0.24.4. */
import type { RuleMatch } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { Dialog } from '../provider.ts'
import { type Asked, createScreenReader } from '../screen-reader.ts'
import { readComposer } from './composer.ts'
import { type Prompt, readPrompt } from './prompt.ts'
import { cutRegions, qwenRegions } from './regions.ts'
import { qwenRules } from './rules.ts'

export const qwenScreen = createScreenReader({
  regions: qwenRegions,
  rules: qwenRules,
  cut: (snapshot) => {
    const { composer, dialog, regions } = cutRegions(snapshot)
    return {
      regions,
      composer: readComposer(composer, snapshot.cursor),
      ask: (match) => (dialog.length === 0 ? undefined : ask(dialog, match)),
    }
  },
})

export const readQwenScreen = qwenScreen.read

/** The dialog on the screen, and the rule that knew it; undefined when there is none. */
export function findPrompt(snapshot: Snapshot): { readonly prompt: Prompt; readonly rule: string } | undefined {
  const { dialog } = cutRegions(snapshot)
  const { match, reading } = qwenScreen.explain(snapshot)
  if (match === undefined || dialog.length === 0 || reading.claim?.kind !== 'waiting') return undefined
  return { prompt: readPrompt(dialog), rule: match.rule.name }
}

function ask(lines: readonly string[], { rule }: RuleMatch): Asked {
  const { text, options } = readPrompt(lines)
  // The last of a question is a field for words of one's own.
  const asked = rule.name === 'question' ? options.slice(0, -1) : options
  return { question: { text, options: asked, vendorId: undefined }, dialog: readStart(rule, text) }
}

/** None of the dialogs of the start is answered by CAO: a person who has trust on decides folder by folder. */
function readStart({ says }: RuleMatch['rule'], text: string): Dialog | undefined {
  if (says !== 'trust' && says !== 'login' && says !== 'update') return undefined
  return { reason: says, text, answer: undefined }
}
