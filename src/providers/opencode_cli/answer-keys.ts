/** Which keys give an answer to the prompt on the screen. Pure. Source: tried in opencode 1.18.33, see README. */
import type { QuestionText } from '../../domain/status.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { OperationRule } from '../operation.ts'
import type { AnswerPlan, Key } from '../provider.ts'
import { permissionOptions } from './event.ts'
import { readOpencodeScreen } from './screen.ts'

/** What its permission prompts would do. */
export const opencodeOperations: readonly OperationRule[] = [
  { kind: 'command', pattern: /^Allow bash: (?<what>[\s\S]+)$/ },
  { kind: 'file', pattern: /^Allow (?:edit|write|read|external_directory): (?<what>[\s\S]+)$/ },
  { kind: 'tool', pattern: /^Allow (?<what>[\s\S]+)$/ },
]

const key = (name: string): Key => ({ kind: 'key', name })
const text = (value: string): Key => ({ kind: 'text', text: value })
const keys = (...list: Key[]): AnswerPlan => ({ kind: 'keys', keys: list })
const refused = (why: string): AnswerPlan => ({ kind: 'refused', why })
const squeeze = (value: string) => value.replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** A digit chooses; there is no key for the tenth. */
const digitsMax = 9

const permissionWords: Readonly<Record<string, 'once' | 'always' | 'reject'>> = {
  '1': 'once',
  'allow once': 'once',
  allow: 'once',
  once: 'once',
  yes: 'once',
  y: 'once',
  '2': 'always',
  'allow always': 'always',
  always: 'always',
  '3': 'reject',
  reject: 'reject',
  deny: 'reject',
  no: 'reject',
  n: 'reject',
}

export function planOpencodeAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan {
  if (squeeze(answer) === '') return refused('an empty answer')
  const { claim, rule } = readOpencodeScreen(snapshot)
  if (claim?.kind !== 'waiting') return refused('the screen shows no question')
  if (!isSame(question.text, claim.question.text)) return refused('the screen shows another question')
  switch (rule) {
    case 'permission-prompt':
      return answerPermission(answer)
    case 'question-prompt':
      return answerQuestion(question, answer, claim.question.options)
    default:
      return refused('this prompt takes more than one answer, or somebody is answering it: use the terminal')
  }
}

/** The first choice is selected when the prompt opens. Escape refuses whatever is selected. */
function answerPermission(answer: string): AnswerPlan {
  const choice = permissionWords[squeeze(answer)]
  if (choice === undefined) return refused(`"${answer}" is none of: ${permissionOptions.join(' · ')}`)
  switch (choice) {
    case 'once':
      return keys(key('Enter'))
    case 'always':
      return keys(key('Right'), key('Enter'), key('Enter'))
    case 'reject':
      return keys(key('Escape'))
  }
}

/**
 * Only what is offered: the field for an answer of one's own opens after its key, and what is typed in the same moment
 * is lost.
 */
function answerQuestion(question: QuestionText, answer: string, shown: readonly string[]): AnswerPlan {
  const wanted = squeeze(answer)
  const labels = question.options.length === shown.length ? question.options : shown
  const number = /^\d{1,2}$/.test(wanted) ? Number(wanted) : 0
  const isNumber = number >= 1 && number <= labels.length
  const index = isNumber ? number - 1 : labels.findIndex((label) => squeeze(label) === wanted)
  if (index >= digitsMax) return refused('only nine options have a key: use the terminal')
  if (index >= 0) return keys(text(String(index + 1)))
  const offered = labels.join(' · ')
  return refused(`"${answer}" is none of: ${offered}; an answer of your own can be typed in the terminal`)
}

/** The screen may wrap, cut or put in other words what a permission is for; a question begins with its own words. */
function isSame(asked: string, shown: string): boolean {
  const begin = squeeze(asked.split('\n', 1)[0] ?? '')
  if (begin.startsWith('allow ')) return squeeze(shown).includes(begin.replace(/^allow [^:]*: /, '').slice(0, 40))
  return squeeze(shown).startsWith(begin.slice(0, 40))
}
