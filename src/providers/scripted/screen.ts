/** Reads one screen of a scripted agent: the bottom region decides, nothing that was said above it. Pure. */
import type { Claim, QuestionText } from '../../domain/status.ts'
import { unreachable } from '../../lib/assert.ts'
import type { BottomBox } from '../../screen/box.ts'
import { matchRules } from '../../screen/rules.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { AnswerPlan, ScreenReading } from '../provider.ts'
import { readComposer } from './composer.ts'
import { planKeys, readQuestion } from './question.ts'
import { cutRegions } from './regions.ts'
import { type ScriptedSays, scriptedRules } from './rules.ts'

export function readScriptedScreen(snapshot: Snapshot): ScreenReading {
  const { box, regions } = cutRegions(snapshot)
  const composer = readComposer(box, snapshot)
  const match = matchRules(scriptedRules, regions)
  if (match === undefined) return { claim: undefined, rule: 'none', composer, dialog: undefined }
  const question = box === undefined ? undefined : questionOf(box)
  return {
    claim: claimOf(match.rule.says, match.text, question),
    rule: match.rule.name,
    composer,
    dialog:
      match.rule.says === 'trust'
        ? { reason: 'trust', text: question?.text ?? '', answer: [{ kind: 'text', text: '1' }] }
        : undefined,
  }
}

export function planScriptedAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan {
  const { box } = cutRegions(snapshot)
  if (box?.title === undefined) return { kind: 'refused', why: 'no question is on the screen' }
  return planKeys(question, answer, readQuestion(box))
}

function questionOf(box: BottomBox): QuestionText | undefined {
  if (box.title === undefined) return undefined
  const { text, options } = readQuestion(box)
  return { text, options, vendorId: undefined }
}

function claimOf(says: ScriptedSays, text: string, question: QuestionText | undefined): Claim | undefined {
  switch (says) {
    case 'starting':
      return undefined
    case 'trust':
    case 'permission':
    case 'question':
      return question === undefined ? undefined : { kind: 'waiting', reason: says, question }
    case 'busy':
      return { kind: 'busy', reason: 'turn' }
    case 'failed':
      return { kind: 'failed', reason: text.includes('429') ? 'rate_limited' : 'api_error', detail: text.slice(2) }
    case 'ready':
      return { kind: 'ready', isStable: false }
    default:
      return unreachable(says)
  }
}
