/** Reads one screen of a scripted agent: the bottom region decides, nothing that was said above it. Pure. */
import type { QuestionText } from '../../domain/status.ts'
import type { BottomBox } from '../../screen/box.ts'
import type { RuleMatch } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { AnswerPlan } from '../provider.ts'
import { type Asked, createScreenReader } from '../screen-reader.ts'
import { readComposer } from './composer.ts'
import { planKeys, readQuestion } from './question.ts'
import { cutRegions } from './regions.ts'
import { scriptedRules } from './rules.ts'

export const scriptedScreen = createScreenReader({
  regions: ['plain', 'frame', 'footer', 'activity'],
  rules: scriptedRules,
  cut: (snapshot) => {
    const { box, regions } = cutRegions(snapshot)
    return {
      regions,
      composer: readComposer(box, snapshot),
      ask: (match) => ask(box, match),
      describeError: ({ text }) => text.replace(/^✗ /, ''),
    }
  },
})

export const readScriptedScreen = scriptedScreen.read

export function planScriptedAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan {
  const { box } = cutRegions(snapshot)
  if (box?.title === undefined) return { kind: 'refused', why: 'no question is on the screen' }
  return planKeys(question, answer, readQuestion(box))
}

function ask(box: BottomBox | undefined, { rule }: RuleMatch): Asked | undefined {
  if (box?.title === undefined) return undefined
  const { text, options } = readQuestion(box)
  const question = { text, options, vendorId: undefined }
  if (rule.says !== 'trust') return { question }
  return { question, dialog: { reason: 'trust', text, answer: [{ kind: 'text', text: '1' }] } }
}
