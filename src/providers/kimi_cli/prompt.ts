/** The dialog in the composer's place: what it asks, its options, and which is chosen. Pure. Source: fixtures/2.1.0. */

export type Prompt = {
  readonly text: string
  readonly options: readonly string[]
  /** Zero-based; -1 where none is marked. */
  readonly selected: number
  /** Questions that are asked together, one after the other. */
  readonly questions: number
  /** More than one option may be chosen. */
  readonly isMultiple: boolean
  /** An answer in one's own words is being typed; what is there. */
  readonly typed: string | undefined
  /** All is answered and can be submitted: what was chosen. */
  readonly chosen: readonly string[] | undefined
}

/** Offered after the options of a question, for an answer in one's own words. */
export const otherLabel = 'Other'

const numberedPattern = /^ +([▶→❯]?) *(?:(\d)\.|\[(\d)\]) (.*)$/
const boxPattern = /^ +([→❯]?) *\[(.)\] (.*)$/
const markedPattern = /^ {3}(❯| ) (\S.*)$/
const questionPattern = /^ {2}\? (.*)$/
const tabsPattern = /^ {1,3}\S?.*\bSubmit\s*$/
const typingPattern = /^ {2,}type answer\b/

export function readPermission(lines: readonly string[]): Prompt {
  const body = lines.slice(
    0,
    lines.findLastIndex((line) => line !== ''),
  )
  const first = body.findLastIndex((line) => numberedPattern.exec(line)?.[2] === '1')
  const { options, selected } = readOptions(first < 0 ? [] : body.slice(first))
  return { ...blank, text: textOf(body.slice(0, first < 0 ? body.length : first)), options, selected }
}

export function readQuestion(lines: readonly string[]): Prompt {
  const keysAt = lines.findLastIndex((line) => line !== '')
  const body = lines.slice(0, keysAt)
  const tabs = body.find((line) => tabsPattern.test(line)) ?? ''
  const questions = tabs.trim().split(/ {2,}/).length - 1
  if (body.some((line) => line.trim() === 'Review your answer before submit')) return readReview(body, questions)
  const begin = body.findIndex((line) => questionPattern.test(line))
  const rest = body.slice(begin < 0 ? 0 : begin)
  const first = rest.findIndex((line) => numberedPattern.exec(line)?.[3] === '1' || boxPattern.test(line))
  const { options, selected } = readOptions(first < 0 ? [] : rest.slice(first))
  const isTyping = typingPattern.test(lines[keysAt] ?? '')
  const asked = rest.slice(0, first < 0 ? rest.length : first).filter((line) => !/^ {4}Type your answer/.test(line))
  return {
    ...blank,
    text: textOf(asked).replace(/^\? /, ''),
    options: options.map((option) => (option.startsWith(`${otherLabel}:`) ? otherLabel : option)),
    selected,
    questions,
    isMultiple: rest.some((line) => boxPattern.test(line) && numberedPattern.exec(line) === null),
    typed: isTyping ? (options[selected] ?? '').slice(otherLabel.length + 1).trim() : undefined,
  }
}

/** A list without numbers, as of the start. Where blank lines part the rows, the first of each is the option, and the rest explains it. */
export function readList(lines: readonly string[]): Prompt {
  const begin = lines.findIndex((line) => markedPattern.test(line))
  if (begin < 0) return { ...blank, text: textOf(lines) }
  const list = lines.slice(begin, lines.findLastIndex((line) => line !== '') + 1)
  const isParted = list.includes('')
  const rows = list.flatMap((line, at) => {
    const [, mark, label] = markedPattern.exec(line) ?? []
    const isOption = label !== undefined && (!isParted || at === 0 || list[at - 1] === '')
    return isOption ? [{ label, isMarked: mark === '❯' }] : []
  })
  const selected = rows.findIndex(({ isMarked }) => isMarked)
  return { ...blank, text: textOf(lines.slice(0, begin)), options: rows.map(({ label }) => label), selected }
}

const blank: Prompt = {
  text: '',
  options: [],
  selected: -1,
  questions: 1,
  isMultiple: false,
  typed: undefined,
  chosen: undefined,
}

/** What was asked stands first, so that it can be known again. */
function readReview(body: readonly string[], questions: number): Prompt {
  const find = (mark: string) => body.flatMap((line) => (line.startsWith(`   ${mark}  `) ? [line.slice(6).trim()] : []))
  const [asked, chosen] = [find('Q'), find('→')]
  const first = body.findLastIndex((line) => numberedPattern.exec(line)?.[3] === '1')
  const { options, selected } = readOptions(body.slice(first))
  const pairs = asked.flatMap((question, at) => [question, `→ ${chosen[at] ?? ''}`])
  return { ...blank, text: [...pairs, 'Ready to submit?'].join('\n'), options, selected, questions, chosen }
}

function readOptions(lines: readonly string[]): { readonly options: readonly string[]; readonly selected: number } {
  const options: string[] = []
  let selected = -1
  for (const line of lines) {
    const numbered = numberedPattern.exec(line)
    const boxed = numbered === null ? boxPattern.exec(line) : null
    const mark = numbered?.[1] ?? boxed?.[1]
    if (mark === undefined) continue
    if (mark !== '') selected = options.length
    options.push((numbered?.[4] ?? boxed?.[3] ?? '').trim())
  }
  return { options, selected }
}

function textOf(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim().replace(/^▶ /, ''))
    .filter((line) => line !== '' && line !== 'question' && !line.startsWith('↑↓ navigate'))
    .join('\n')
}
