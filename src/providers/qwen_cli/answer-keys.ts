/** Which keys give an answer to the dialog on the screen. Pure. Source: tried in 0.24.4, see README. */
import type { QuestionText } from '../../domain/status.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { AnswerPlan, Key } from '../provider.ts'
import { otherPattern, type Prompt } from './prompt.ts'
import { findPrompt } from './screen.ts'

const key = (name: string): Key => ({ kind: 'key', name })
const text = (value: string): Key => ({ kind: 'text', text: value })
const keys = (...list: Key[]): AnswerPlan => ({ kind: 'keys', keys: list })
const refused = (why: string): AnswerPlan => ({ kind: 'refused', why })
const squeeze = (value: string) => value.replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** A digit chooses at once; of two digits the first would. */
const digitsMax = 9
/** A long question is told apart by so many characters. */
const sameChars = 120

const once = /^(?:Yes, allow once|Allow once)/
const always = /^Always allow\b.*\bin this project$/
const no = /^No\b/
/** What people say for the options of a permission prompt; the labels differ with what is asked for. */
const permissionWords: Readonly<Record<string, RegExp>> = {
  y: once,
  yes: once,
  allow: once,
  once,
  always,
  n: no,
  no,
  deny: no,
  reject: no,
}

export function planQwenAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would be keys
  const wanted = answer.replaceAll(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ').trim()
  if (wanted === '') return refused('an empty answer')
  const found = findPrompt(snapshot)
  if (found === undefined) return refused('the screen shows no question')
  const { prompt, rule } = found
  if (!isSame(question.text, prompt.text)) return refused('the screen shows another question')
  if (prompt.options.length === 0) return refused('this dialog has no options: answer it at the terminal')
  // The last of a question is a field, whatever stands in it.
  const options = rule === 'question' ? prompt.options.slice(0, -1) : prompt.options
  const index = findOption(options, wanted)
  if (index !== undefined) {
    return index < digitsMax ? keys(text(String(index + 1))) : refused('only nine options have a key: use the terminal')
  }
  return rule === 'question' ? answerInWords(prompt, wanted) : refuseOther(prompt, wanted)
}

/** By number, by label, by what people say, by the only label that starts so. */
function findOption(options: readonly string[], wanted: string): number | undefined {
  const number = /^\d{1,2}$/.test(wanted) ? Number(wanted) : 0
  if (number >= 1 && number <= options.length) return number - 1
  const labels = options.map(squeeze)
  const exact = labels.indexOf(squeeze(wanted))
  if (exact >= 0) return exact
  const word = permissionWords[squeeze(wanted)]
  const said = word === undefined ? -1 : options.findIndex((option) => word.test(option))
  if (said >= 0) return said
  const starting = labels.flatMap((label, at) => (label.startsWith(squeeze(wanted)) ? [at] : []))
  return starting.length === 1 ? starting[0] : undefined
}

function refuseOther({ options }: Prompt, wanted: string): AnswerPlan {
  return refused(`"${wanted}" is none of: ${options.join(' · ')}`)
}

/** An answer of one's own stands in the last option: go there one step at a time, type, see it, Enter. */
function answerInWords({ options, selected }: Prompt, wanted: string): AnswerPlan {
  const last = options.length - 1
  const field = options[last] ?? ''
  if (selected < 0) return refused('the screen marks no option: use the terminal')
  if (selected < last) return { kind: 'keys', keys: [key('Down')], isPartial: true }
  if (otherPattern.test(field)) return { kind: 'keys', keys: [text(wanted)], isPartial: true }
  return squeeze(field) === squeeze(wanted)
    ? keys(key('Enter'))
    : refused('somebody is typing an answer at the terminal')
}

/** The same words, or as much of them as the screen had room for. */
function isSame(asked: string, shown: string): boolean {
  return squeeze(shown).startsWith(squeeze(asked).slice(0, sameChars))
}
