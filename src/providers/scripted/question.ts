/** The question that a scripted agent's dialog asks, and the keys that answer it. Pure. */
import type { QuestionText } from '../../domain/status.ts'
import { type BottomBox, joinRows } from '../../screen/box.ts'
import type { OperationRule } from '../operation.ts'
import type { AnswerPlan, Key } from '../provider.ts'

/** What its permission prompts would do. */
export const scriptedOperations: readonly OperationRule[] = [
  { kind: 'command', pattern: /^Run this command\?\n(?<what>[\s\S]+)$/ },
]

export type ShownQuestion = {
  readonly text: string
  readonly options: readonly string[]
  /** Zero-based. */
  readonly selected: number
  /** A text is being asked for. */
  readonly hasInput: boolean
}

const optionPattern = /^(❯ | {2})(\d+)\. (.*)$/
const otherOption = 'Something else (type it)'
const digitsMax = 9

/** Options are read from the bottom up to the blank row above them: what is asked may look like options too. */
export function readQuestion(box: BottomBox): ShownQuestion {
  const rows = [...box.rows]
  const hasInput = rows.at(-1)?.text.startsWith('» ') === true || rows.at(-1)?.text === '»'
  if (hasInput) rows.pop()
  const blank = rows.findLastIndex((row) => row.text.trim() === '')
  const options = rows.slice(blank + 1).flatMap((row) => {
    const [whole, mark, , label = ''] = optionPattern.exec(row.text) ?? []
    return whole === undefined ? [] : [{ label, isSelected: mark === '❯ ' }]
  })
  return {
    text: joinRows(rows.slice(0, Math.max(blank, 0)), 2).join('\n'),
    options: options.map((option) => option.label),
    selected: Math.max(
      options.findIndex((option) => option.isSelected),
      0,
    ),
    hasInput,
  }
}

const refused = (why: string): AnswerPlan => ({ kind: 'refused', why })
const text = (value: string): Key => ({ kind: 'text', text: value })
const enter: Key = { kind: 'key', name: 'Enter' }

export function planKeys(question: QuestionText, answer: string, shown: ShownQuestion): AnswerPlan {
  if (!isSame(question.text, shown.text)) return refused('the screen shows another question')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would be keys
  const wanted = answer.replaceAll(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ').trim()
  if (wanted === '') return refused('an empty answer')
  // An open text field takes the answer as text, whatever the options say.
  if (shown.hasInput) return { kind: 'keys', keys: [text(wanted), enter] }
  const labels = question.options.length === shown.options.length ? question.options : shown.options
  const index = findOption(labels, wanted)
  if (index !== undefined) return { kind: 'keys', keys: keysFor(index, shown.selected) }
  const other = shown.options.indexOf(otherOption)
  if (other < 0) return refused(`"${wanted}" is none of: ${labels.join(' · ')}`)
  return { kind: 'keys', keys: [...keysFor(other, shown.selected), text(wanted), enter] }
}

/** A long question is cut on the screen; its first line tells them apart. */
function isSame(asked: string, shown: string): boolean {
  const squeeze = (value: string) => value.replaceAll(/\s+/g, ' ').trim()
  const first = squeeze(shown.split('\n', 1)[0] ?? '')
  return squeeze(asked).startsWith(first.replace(/ ?…$/, ''))
}

/** By number, by text, by the only option that starts so. */
function findOption(labels: readonly string[], wanted: string): number | undefined {
  const number = /^\d{1,2}$/.test(wanted) ? Number(wanted) : 0
  if (number >= 1 && number <= labels.length) return number - 1
  const lower = labels.map((label) => label.replaceAll(/\s+/g, ' ').trim().toLowerCase())
  const exact = lower.indexOf(wanted.toLowerCase())
  if (exact >= 0) return exact
  const starting = lower.flatMap((label, index) => (label.startsWith(wanted.toLowerCase()) ? [index] : []))
  return starting.length === 1 ? starting[0] : undefined
}

function keysFor(index: number, selected: number): readonly Key[] {
  if (index < digitsMax) return [text(String(index + 1))]
  const name = index >= selected ? 'Down' : 'Up'
  return [...Array.from({ length: Math.abs(index - selected) }, (): Key => ({ kind: 'key', name })), enter]
}
