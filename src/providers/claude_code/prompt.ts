/**
 * The dialog that stands where the composer would be: what it asks and its options. An agent's text may look like
 * options, so they are read from the bottom up: what was asked for is above them. Pure. Source: fixtures/2.1.332/screens.
 */
import { isRule } from './regions.ts'

export type Prompt = {
  /**
   * `tabs`: several questions, or one with several answers. `typing`: somebody is in the field for an answer of one's own.
   * `list`: options without numbers, chosen by arrow keys.
   */
  readonly kind: 'permission' | 'question' | 'tabs' | 'typing' | 'list'
  readonly text: string
  readonly options: readonly string[]
  /** Zero-based. */
  readonly selected: number
}

/** Offered with every question, after its own options. */
export const ownAnswerLabel = 'Type something.'
export const chatLabel = 'Chat about this'

/** The options as they were asked for. */
export function askedOptions({ kind, options }: Prompt): readonly string[] {
  return kind !== 'permission' && options.at(-1) === chatLabel ? options.slice(0, -2) : options
}

const optionPattern = /^ ?([❯ ]) (\d{1,2})\. (.+)$/
const dashedPattern = /^╌+$/
const tabsPattern = /^← .*→$/

export function readNumbered(lines: readonly string[], cols: number, kind: 'permission' | 'question'): Prompt {
  const first = lines.findLastIndex((line) => optionPattern.exec(line)?.[2] === '1')
  const top = lines.slice(0, Math.max(first, 0)).findLastIndex((line) => isRule(line, cols))
  const asked = lines
    .slice(top + 1, Math.max(first, 0))
    .map((line) => line.trim())
    .filter((row) => row !== '')
  const { options, selected } = readOptions(first < 0 ? [] : lines.slice(first), kind === 'permission')
  if (kind === 'permission') return { kind, text: describePermission(asked), options, selected }
  const text = describeQuestion(asked)
  if (tabsPattern.test(asked[0] ?? '')) return { kind: 'tabs', text, options, selected }
  const isTyping = options.at(-1) === chatLabel && selected === options.length - 2
  return { kind: isTyping ? 'typing' : kind, text, options, selected }
}

/** What it is for, then what would be done, then what is asked; advice on other modes is left out. */
function describePermission(rows: readonly string[]): string {
  const begin = rows.findIndex((row) => dashedPattern.test(row))
  const end = rows.findLastIndex((row) => dashedPattern.test(row))
  const isAdvice = (row: string) => row.startsWith('Tip: ')
  if (begin < 0) return rows.filter((row) => !isAdvice(row)).join('\n')
  const head = rows.slice(0, Math.min(begin, 2)).filter((row) => !isAdvice(row))
  return [...head, ...joinMarked(rows.slice(begin + 1, end)), ...rows.slice(end + 1)].join('\n')
}

/** Rows of a long command have a bar before them: they are one line. */
function joinMarked(rows: readonly string[]): readonly string[] {
  if (rows.length === 0 || !rows.every((row) => row.startsWith('│'))) return rows
  return [rows.map((row) => row.slice(2)).join('')]
}

/** The first row is a heading, or the tabs. */
function describeQuestion(rows: readonly string[]): string {
  return (rows.length > 1 ? rows.slice(1) : rows).join(' ')
}

function readOptions(lines: readonly string[], isWrapped: boolean): Pick<Prompt, 'options' | 'selected'> {
  const options: string[] = []
  let selected = 0
  for (const line of lines) {
    const [, mark, number, label = ''] = optionPattern.exec(line) ?? []
    if (Number(number) === options.length + 1) {
      if (mark === '❯') selected = options.length
      options.push(label)
    }
    // An option of a question has its meaning below it; a permission's goes on there.
    else if (isWrapped && /^ {6}\S/.test(line)) options.push(`${options.pop() ?? ''} ${line.trim()}`)
    else if (isWrapped && line === '') break
  }
  return { options, selected }
}

/** A list without numbers, as at the start of the program. */
export function readList(region: string): Prompt {
  const rows = region.split('\n')
  const at = rows.findLastIndex((row) => /^ +❯ \S/.test(row))
  const indent = (rows[at] ?? '').indexOf('❯')
  const isOption = (row: string) => row.slice(0, indent).trim() === '' && /^[❯ ] \S/.test(row.slice(indent))
  let top = at
  while (top > 0 && isOption(rows[top - 1] ?? '')) top--
  let end = at
  while (isOption(rows[end + 1] ?? '')) end++
  return {
    kind: 'list',
    text: rows
      .slice(0, top)
      .map((row) => row.trim())
      .filter((row) => row !== '')
      .join('\n'),
    options: rows.slice(top, end + 1).map((row) => row.slice(indent + 2).trim()),
    selected: at - top,
  }
}
