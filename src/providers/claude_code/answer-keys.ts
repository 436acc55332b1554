/** Which keys give an answer to the dialog on the screen. Pure. Source: tried in 2.1.332, see README. */
import type { QuestionText } from '../../domain/status.ts'
import type { Snapshot } from '../../screen/snapshot.ts'
import type { OperationRule } from '../operation.ts'
import type { AnswerPlan, Key } from '../provider.ts'
import { askedOptions, chatLabel, ownAnswerLabel, type Prompt } from './prompt.ts'
import { findPrompt } from './screen.ts'
import { chooseFromList } from './start-dialogs.ts'

/** What its permission prompts would do. */
export const claudeOperations: readonly OperationRule[] = [
  { kind: 'command', pattern: /^Bash command\n(?<what>[\s\S]+)\nDo you want/ },
  { kind: 'file', pattern: /^(?:Create|Edit|Overwrite|Write) file\n(?<what>[^\n]+)\n/ },
  { kind: 'tool', pattern: /^Tool use\n(?<what>[\s\S]+)\nDo you want/ },
]

const text = (value: string): Key => ({ kind: 'text', text: value })
const keys = (...list: Key[]): AnswerPlan => ({ kind: 'keys', keys: list })
const refused = (why: string): AnswerPlan => ({ kind: 'refused', why })
const squeeze = (value: string) => value.replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** A digit chooses at once; there is no key for the tenth. */
const digitsMax = 9
/** A long question is told apart by so many characters. */
const sameChars = 120

/** What people say for the options of a permission prompt; the labels differ with what is asked for. */
const permissionWords: Readonly<Record<string, RegExp>> = {
  y: /^Yes$/,
  allow: /^Yes$/,
  once: /^Yes$/,
  always: /^Yes, and (?:always|don)/,
  n: /^No\b/,
  deny: /^No\b/,
  reject: /^No\b/,
}

export function planClaudeAnswer(question: QuestionText, answer: string, snapshot: Snapshot): AnswerPlan {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would be keys
  const wanted = answer.replaceAll(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ').trim()
  if (wanted === '') return refused('an empty answer')
  const prompt = findPrompt(snapshot)
  if (prompt === undefined) return refused('the screen shows no question')
  if (!isSame(question.text, prompt.text)) return refused('the screen shows another question')
  if (prompt.kind === 'typing') return answerInField(prompt, wanted)
  if (prompt.kind === 'tabs') return refused('this prompt takes more than one answer: use the terminal')
  const index = findOption(prompt, wanted)
  if (index === undefined) return answerFreely(prompt, wanted)
  if (prompt.kind === 'list') return keys(...chooseFromList(prompt.selected, index))
  if (prompt.options[index] === chatLabel) return refused(`"${chatLabel}" ends the question: use the terminal`)
  return index < digitsMax ? keys(text(String(index + 1))) : refused('only nine options have a key: use the terminal')
}

/** By number, by label, by what people say, by the only label that starts so. */
function findOption(prompt: Prompt, wanted: string): number | undefined {
  const { options } = prompt
  const number = /^\d{1,2}$/.test(wanted) ? Number(wanted) : 0
  if (number >= 1 && number <= options.length) return number - 1
  const labels = options.map(squeeze)
  const exact = labels.indexOf(squeeze(wanted))
  if (exact >= 0) return exact
  const word = prompt.kind === 'permission' ? permissionWords[squeeze(wanted)] : undefined
  if (word !== undefined) {
    const at = options.findIndex((option) => word.test(option))
    return at < 0 ? undefined : at
  }
  const starting = labels.flatMap((label, at) => (label.startsWith(squeeze(wanted)) ? [at] : []))
  return starting.length === 1 ? starting[0] : undefined
}

/**
 * An answer of one's own is typed into the option that is there for it: go there, type, see it, Enter. Pressed in one go,
 * Enter was seen to choose the option that was selected before.
 */
function answerFreely(prompt: Prompt, wanted: string): AnswerPlan {
  const own = prompt.options.indexOf(ownAnswerLabel)
  if (own < 0 || own >= digitsMax) return refused(`"${wanted}" is none of: ${prompt.options.join(' · ')}`)
  return { kind: 'keys', keys: [text(String(own + 1))], isPartial: true }
}

/** In the field stands nothing, our answer (a long one goes on in the next row), or what somebody else typed. */
function answerInField(prompt: Prompt, wanted: string): AnswerPlan {
  const typed = prompt.options[prompt.selected] ?? ''
  if (findOption({ ...prompt, options: askedOptions(prompt) }, wanted) !== undefined || !isBegun(typed, wanted)) {
    return refused('somebody is typing an answer at the terminal')
  }
  if (typed === ownAnswerLabel) return { kind: 'keys', keys: [text(wanted)], isPartial: true }
  return keys({ kind: 'key', name: 'Enter' })
}

const isBegun = (typed: string, wanted: string): boolean =>
  typed === ownAnswerLabel || squeeze(wanted).startsWith(squeeze(typed))

/** The same words, or as much of them as the screen had room for. */
function isSame(asked: string, shown: string): boolean {
  return squeeze(shown).startsWith(squeeze(asked).slice(0, sameChars))
}
