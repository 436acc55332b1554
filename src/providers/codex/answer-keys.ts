/** Which keys give an answer to the dialog on the screen. Pure. Source: tried in 0.171.0, see README. */
import type { QuestionText } from '../../domain/status.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { OperationRule } from '../operation.ts'
import type { AnswerPlan, Key } from '../provider.ts'
import { otherLabel, type Prompt } from './prompt.ts'
import { findPrompt } from './screen.ts'

/** What its permission prompts would do. */
export const codexOperations: readonly OperationRule[] = [
  { kind: 'command', pattern: /^Would you like to run the following command\?[\s\S]*?\n\$ (?<what>[\s\S]+)$/ },
  { kind: 'tool', pattern: /^Allow the .+ MCP server to run tool "(?<what>[^"]+)"/ },
]

const key = (name: string): Key => ({ kind: 'key', name })
const text = (value: string): Key => ({ kind: 'text', text: value })
const keys = (...list: Key[]): AnswerPlan => ({ kind: 'keys', keys: list })
const refused = (why: string): AnswerPlan => ({ kind: 'refused', why })
const squeeze = (value: string) => value.replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** In a dialog of a turn a digit chooses at once. */
const byDigit: ReadonlySet<string> = new Set(['command-approval', 'tool-approval', 'question'])
const digitsMax = 9
/** A long question is told apart by so many characters. */
const sameChars = 120

/** What people say for the options of a permission prompt; the labels differ with what is asked for. */
const permissionWords: Readonly<Record<string, RegExp>> = {
  y: /^(?:Yes, proceed|Yes\b(?!.*don't ask)|Allow$)/,
  yes: /^(?:Yes, proceed|Yes\b(?!.*don't ask)|Allow$)/,
  allow: /^(?:Yes, proceed|Yes\b(?!.*don't ask)|Allow$)/,
  once: /^(?:Yes, proceed|Yes\b(?!.*don't ask)|Allow$)/,
  always: /^(?:Yes, and don't ask|Always allow)/,
  n: /^(?:No\b|Cancel$)/,
  no: /^(?:No\b|Cancel$)/,
  deny: /^(?:No\b|Cancel$)/,
  reject: /^(?:No\b|Cancel$)/,
}

export function planCodexAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would be keys
  const wanted = answer.replaceAll(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ').trim()
  if (wanted === '') return refused('an empty answer')
  const found = findPrompt(snapshot)
  if (found === undefined) return refused('the screen shows no question')
  const { prompt, rule } = found
  if (!isSame(question.text, prompt.text)) return refused('the screen shows another question')
  if (rule === 'notes-field') return answerInNotes(prompt, wanted)
  const index = findOption(prompt, wanted)
  if (index === undefined) return rule === 'question' ? goToNotes(prompt, wanted) : refuseOther(prompt, wanted)
  if (byDigit.has(rule)) {
    return index < digitsMax ? keys(text(String(index + 1))) : refused('only nine options have a key: use the terminal')
  }
  if (prompt.selected < 0) return refused('the screen marks no option: use the terminal')
  return keys(...moveTo(prompt.selected, index), key('Enter'))
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

function moveTo(selected: number, wanted: number): readonly Key[] {
  const name = wanted >= selected ? 'Down' : 'Up'
  return Array.from({ length: Math.abs(wanted - selected) }, () => key(name))
}

function refuseOther({ options }: Prompt, wanted: string): AnswerPlan {
  return refused(`"${wanted}" is none of: ${options.join(' · ')}`)
}

/** An answer of one's own is a note to the last option: go there, open the field, type, see it, Enter. */
function goToNotes(prompt: Prompt, wanted: string): AnswerPlan {
  const other = prompt.options.indexOf(otherLabel)
  if (other < 0 || prompt.selected < 0) return refuseOther(prompt, wanted)
  return { kind: 'keys', keys: [...moveTo(prompt.selected, other), key('Tab')], isPartial: true }
}

/** In the field stands nothing, our answer, or what somebody else typed. */
function answerInNotes({ options, selected, notes = '' }: Prompt, wanted: string): AnswerPlan {
  const typed = squeeze(notes)
  const isEmpty = typed === '' || typed === squeeze(emptyNotes)
  if (options[selected] !== otherLabel || (!isEmpty && !squeeze(wanted).startsWith(typed))) {
    return refused('somebody is typing an answer at the terminal')
  }
  if (isEmpty) return { kind: 'keys', keys: [text(wanted)], isPartial: true }
  return keys(key('Enter'))
}

/** Stands in the field before something is typed. */
const emptyNotes = 'Add notes'

/** The same words, or as much of them as the screen had room for. */
function isSame(asked: string, shown: string): boolean {
  return squeeze(shown).startsWith(squeeze(asked).slice(0, sameChars))
}
