/** Which keys give an answer to the dialog on the screen. Pure. Source: tried in 1.0.102, see README. */
import type { QuestionText } from '../../domain/status.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { AnswerPlan, Key } from '../provider.ts'
import { emptyField, isOther, type Prompt } from './prompt.ts'
import { type FoundPrompt, findPrompt } from './screen.ts'

const key = (name: string): Key => ({ kind: 'key', name })
const text = (value: string): Key => ({ kind: 'text', text: value })
const keys = (...list: Key[]): AnswerPlan => ({ kind: 'keys', keys: list })
const partly = (...list: Key[]): AnswerPlan => ({ kind: 'keys', keys: list, isPartial: true })
const refused = (why: string): AnswerPlan => ({ kind: 'refused', why })
const squeeze = (value: string) => value.replaceAll(/\s+/g, ' ').trim().toLowerCase()

const digitsMax = 9
/** A long question is told apart by so many characters. */
const sameChars = 120

/** What people say for the options of a permission prompt; the labels differ with what is asked for. */
const permissionWords: Readonly<Record<string, RegExp>> = {
  y: /^Yes$/,
  allow: /^Yes$/,
  once: /^Yes$/,
  always: /^Yes, and/,
  n: /^No\b/,
  no: /^No\b/,
  deny: /^No\b/,
  reject: /^No\b/,
}

export function planCopilotAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would be keys
  const wanted = answer.replaceAll(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ').trim()
  if (wanted === '') return refused('an empty answer')
  const found = findPrompt(snapshot)
  if (found === undefined) return refused('the screen shows no question')
  const { prompt, rule } = found
  if (!isSame(question.text, prompt.text)) return refused('the screen shows another question')
  if (rule === 'question') return answerForm(found, wanted)
  const index = findOption(prompt, wanted)
  if (index === undefined) return refuseOther(prompt, wanted)
  // The option would ask for words; Escape says the same without them.
  if (rule === 'permission' && /^No\b/.test(prompt.options[index] ?? '')) return keys(key('Escape'))
  return index < digitsMax ? keys(text(String(index + 1))) : refused('only nine options have a key: use the terminal')
}

/** Options without numbers; the last of them opens a field for words of one's own. */
function answerForm({ prompt, field }: FoundPrompt, wanted: string): AnswerPlan {
  const { options, selected } = prompt
  if (selected < 0) return refused('this form can not be read: use the terminal')
  const index = findOption(prompt, wanted)
  if (index !== undefined) return keys(...moveTo(selected, index), key('Enter'))
  const other = options.findIndex(isOther)
  if (other < 0) return refuseOther(prompt, wanted)
  if (field === undefined) return partly(...moveTo(selected, other))
  if (field === emptyField || field === '') return partly(text(wanted))
  return squeeze(wanted).startsWith(squeeze(field)) ? keys(key('Enter')) : refused('somebody is typing at the terminal')
}

/** By number, by label, by what people say, by the only label that starts so. */
function findOption({ options }: Prompt, wanted: string): number | undefined {
  const choices = options.filter((option) => !isOther(option))
  const number = /^\d{1,2}$/.test(wanted) ? Number(wanted) : 0
  if (number >= 1 && number <= choices.length) return number - 1
  const labels = choices.map(squeeze)
  const exact = labels.indexOf(squeeze(wanted))
  if (exact >= 0) return exact
  const word = permissionWords[squeeze(wanted)]
  const said = word === undefined ? -1 : choices.findIndex((option) => word.test(option))
  if (said >= 0) return said
  const starting = labels.flatMap((label, at) => (label.startsWith(squeeze(wanted)) ? [at] : []))
  return starting.length === 1 ? starting[0] : undefined
}

function moveTo(selected: number, wanted: number): readonly Key[] {
  const name = wanted >= selected ? 'Down' : 'Up'
  return Array.from({ length: Math.abs(wanted - selected) }, () => key(name))
}

function refuseOther({ options }: Prompt, wanted: string): AnswerPlan {
  return refused(`"${wanted}" is none of: ${options.join(' · ')}`)
}

/** The same words, or as much of them as the screen had room for. */
function isSame(asked: string, shown: string): boolean {
  return squeeze(shown).startsWith(squeeze(asked).slice(0, sameChars))
}
