/** Which keys give an answer to the dialog on the screen. Pure. Source: tried in 2.1.0, see README. */
import type { QuestionText } from '../../domain/status.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { AnswerPlan, Key } from '../provider.ts'
import { mcpServerName } from './launch.ts'
import { otherLabel, type Prompt } from './prompt.ts'
import { findPrompt } from './screen.ts'

const key = (name: string): Key => ({ kind: 'key', name })
const text = (value: string): Key => ({ kind: 'text', text: value })
const keys = (...list: Key[]): AnswerPlan => ({ kind: 'keys', keys: list })
const partly = (...list: Key[]): AnswerPlan => ({ kind: 'keys', keys: list, isPartial: true })
const refused = (why: string): AnswerPlan => ({ kind: 'refused', why })
const squeeze = (value: string) => value.replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** A long question is told apart by so many characters. */
const sameChars = 120
const digitsMax = 9

/** What people say for the options of a permission prompt. */
const permissionWords: Readonly<Record<string, RegExp>> = {
  y: /^Approve once$/,
  yes: /^Approve once$/,
  allow: /^Approve once$/,
  once: /^Approve once$/,
  always: /^Approve for this session$/,
  n: /^Reject$/,
  no: /^Reject$/,
  deny: /^Reject$/,
}

export function planKimiAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would be keys
  const wanted = answer.replaceAll(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ').trim()
  if (wanted === '') return refused('an empty answer')
  const found = findPrompt(snapshot)
  if (found === undefined) return refused('the screen shows no question')
  const { prompt, rule } = found
  if (!isSame(question.text, prompt.text)) return refused('the screen shows another question')
  if (prompt.chosen !== undefined) return submit(prompt, wanted, question)
  if (prompt.typed !== undefined) return answerInField(prompt, prompt.typed, wanted)
  if (prompt.isMultiple) return refused('this question takes more than one answer: use the terminal')
  const index = findOption(prompt, wanted)
  if (index === undefined) return rule === 'question' ? openField(prompt, wanted) : refuseOther(prompt, wanted)
  if (rule === 'permission' || rule === 'question') return choose(prompt, index, rule)
  if (prompt.selected < 0) return refused('the screen marks no option: use the terminal')
  return keys(...moveTo(prompt.selected, index), key('Enter'))
}

const ownToolPattern = new RegExp(`^Approve mcp__${mcpServerName}__\\w+\\?$`)
const forSession = 'Approve for this session'

/** Once for each tool of ours: the rules of its settings, which could say it before, are not used by 2.1.0. */
export function allowOwnTool({ text: asked, options }: QuestionText): string | undefined {
  const isOwn = ownToolPattern.test(asked.split('\n', 1)[0] ?? '')
  return isOwn && options.includes(forSession) ? forSession : undefined
}

/** A digit chooses at once. A single question then shows what was chosen, to be submitted. */
function choose({ options, questions }: Prompt, index: number, rule: string): AnswerPlan {
  const label = options[index] ?? ''
  if (index >= digitsMax) return refused('only nine options have a key: use the terminal')
  if (label === otherLabel || label.startsWith('Reject with feedback')) {
    return refused(`"${label}" takes a text: use the terminal`)
  }
  const digit = text(String(index + 1))
  return rule === 'question' && questions === 1 ? partly(digit) : keys(digit)
}

/** What stands there must be what was answered a moment ago; a person may answer it by its own options, too. */
function submit({ options, chosen = [] }: Prompt, wanted: string, question: QuestionText): AnswerPlan {
  const own = options.findIndex((option) => squeeze(option) === squeeze(wanted))
  if (own >= 0) return keys(text(String(own + 1)))
  const number = /^\d$/.test(wanted) ? question.options[Number(wanted) - 1] : undefined
  const isOurs = chosen.length === 1 && isSame(wanted, chosen[0] ?? '')
  const isNumbered = number !== undefined && chosen.length === 1 && squeeze(number) === squeeze(chosen[0] ?? '')
  const isBegun = chosen.length === 1 && squeeze(chosen[0] ?? '').startsWith(squeeze(wanted))
  return isOurs || isNumbered || isBegun ? keys(text('1')) : refused('somebody answered at the terminal')
}

/** By number, by label, by what people say, by the only label that starts so. */
function findOption({ options }: Prompt, wanted: string): number | undefined {
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

/** An answer of one's own: go to the option for it, open its field, type, see it, Enter. */
function openField(prompt: Prompt, wanted: string): AnswerPlan {
  const other = prompt.options.indexOf(otherLabel)
  if (other < 0 || prompt.selected < 0) return refuseOther(prompt, wanted)
  return partly(...moveTo(prompt.selected, other), key('Enter'))
}

/** In the field stands nothing, our answer, or what somebody else typed. */
function answerInField({ questions }: Prompt, typed: string, wanted: string): AnswerPlan {
  if (typed === '') return partly(text(wanted))
  if (!squeeze(wanted).startsWith(squeeze(typed))) return refused('somebody is typing an answer at the terminal')
  return questions === 1 ? partly(key('Enter')) : keys(key('Enter'))
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
