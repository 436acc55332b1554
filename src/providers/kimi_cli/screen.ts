/** Reads one screen of Kimi Code. Pure. */
import type { RuleMatch } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import { type Asked, createScreenReader } from '../screen-reader.ts'
import { readComposer } from './composer.ts'
import { otherLabel, type Prompt, readList, readPermission, readQuestion } from './prompt.ts'
import { cutRegions, kimiRegions } from './regions.ts'
import { kimiRules } from './rules.ts'
import { readStartDialog } from './start-dialogs.ts'

/** Takes a text, which is typed at the terminal. */
const feedbackLabel = 'Reject with feedback'

export const kimiScreen = createScreenReader({
  regions: kimiRegions,
  rules: kimiRules,
  cut: (snapshot) => {
    const { composer, dialog, regions } = cutRegions(snapshot)
    return {
      regions,
      composer: readComposer(composer),
      ask: (match) => (dialog.length === 0 ? signIn(match) : ask(dialog, match)),
    }
  },
})

export const readKimiScreen = kimiScreen.read

/** The dialog on the screen, and the rule that knew it; undefined when there is none. */
export function findPrompt(snapshot: Snapshot): { readonly prompt: Prompt; readonly rule: string } | undefined {
  const { dialog } = cutRegions(snapshot)
  const { match, reading } = kimiScreen.explain(snapshot)
  if (match === undefined || dialog.length === 0 || reading.claim?.kind !== 'waiting') return undefined
  return { prompt: readPrompt(dialog, match), rule: match.rule.name }
}

function readPrompt(dialog: readonly string[], { rule }: RuleMatch): Prompt {
  if (rule.says === 'permission') return readPermission(dialog)
  return rule.name === 'question' ? readQuestion(dialog) : readList(dialog)
}

function ask(dialog: readonly string[], match: RuleMatch): Asked {
  const prompt = readPrompt(dialog, match)
  const options = prompt.options.filter((option) => option !== otherLabel && !option.startsWith(feedbackLabel))
  return {
    question: { text: prompt.text, options, vendorId: undefined },
    dialog: readStartDialog(prompt, match.rule.says),
  }
}

function signIn({ text }: RuleMatch): Asked {
  const question = {
    text: 'Kimi Code is not signed in: use /login or /provider at the terminal.',
    options: [],
    vendorId: undefined,
  }
  return { question, dialog: { reason: 'login', text, answer: undefined } }
}
