/** Reads one screen of Copilot CLI. Pure. */
import type { RuleMatch } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import { type Asked, createScreenReader } from '../screen-reader.ts'
import { readComposer } from './composer.ts'
import { isOther, type Prompt, readForm, readNumbered } from './prompt.ts'
import { copilotRegions, cutRegions } from './regions.ts'
import { copilotRules } from './rules.ts'
import { readStartDialog } from './start-dialogs.ts'

export const copilotScreen = createScreenReader({
  regions: copilotRegions,
  rules: copilotRules,
  cut: (snapshot) => {
    const { composer, dialog, regions } = cutRegions(snapshot)
    return {
      regions,
      composer: readComposer(composer),
      ask: (match) => (dialog.length === 0 ? signIn(match) : ask(dialog, match)),
    }
  },
})

export const readCopilotScreen = copilotScreen.read

export type FoundPrompt = { readonly prompt: Prompt; readonly rule: string; readonly field: string | undefined }

/** The dialog on the screen, and the rule that knew it; undefined when there is none. */
export function findPrompt(snapshot: Snapshot): FoundPrompt | undefined {
  const { dialog, field } = cutRegions(snapshot)
  const { match, reading } = copilotScreen.explain(snapshot)
  if (match === undefined || dialog.length === 0 || reading.claim?.kind !== 'waiting') return undefined
  return { prompt: readPrompt(dialog, match), rule: match.rule.name, field }
}

const readPrompt = (dialog: readonly string[], { rule }: RuleMatch): Prompt =>
  rule.name === 'question' ? readForm(dialog) : readNumbered(dialog)

function ask(dialog: readonly string[], match: RuleMatch): Asked {
  const prompt = readPrompt(dialog, match)
  const options = prompt.options.filter((option) => !isOther(option))
  return {
    question: { text: prompt.text, options, vendorId: undefined },
    dialog: readStartDialog(prompt, match.rule.says),
  }
}

function signIn({ text }: RuleMatch): Asked {
  const question = {
    text: 'Copilot CLI is not signed in: use /login at the terminal.',
    options: [],
    vendorId: undefined,
  }
  return { question, dialog: { reason: 'login', text, answer: undefined } }
}
