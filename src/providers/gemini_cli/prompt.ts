/**
 * The dialog in the frame at the end of the screen: what it asks, its options, and which is chosen. Options are numbered without
 * a gap; the one that `●` marks is chosen. A form of several questions has them in tabs. Pure. Source: fixtures/0.61.0.
 */
export type Prompt = {
  readonly text: string
  readonly options: readonly string[]
  /** Zero-based; -1 where none is marked. */
  readonly selected: number
  /** What stands in the field for words of one's own, where it is chosen; undefined where it is not. */
  readonly field: string | undefined
}

/** Offered after the options of a question. */
export const otherLabel = 'Enter a custom value'

const optionPattern = /^([●○ ]?) {1,2}(\d{1,2})\. +(\S.*)$/
/** Says nothing about the question. */
const headingPattern = /^(?:Answer Questions|Action Required|\(press Ctrl\+O .*\))$/
const tabsPattern = /^← .* →$/
const frame = /[╭╮╰╯─│]+/g

export function readPrompt(lines: readonly string[]): Prompt {
  const first = lines.findLastIndex((line) => optionPattern.exec(line)?.[2] === '1')
  const asked = lines.slice(0, first < 0 ? lines.length : first)
  const text = [...new Set(asked.map((line) => line.replaceAll(frame, '').trim()))]
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !headingPattern.test(line) && !tabsPattern.test(line))
    .join('\n')
  if (first < 0) return { text, options: [], selected: -1, field: undefined }
  return { text, ...readOptions(lines.slice(first)) }
}

function readOptions(lines: readonly string[]): Omit<Prompt, 'text'> {
  const options: string[] = []
  let selected = -1
  for (const line of lines) {
    const [, mark = '', number, label = ''] = optionPattern.exec(line) ?? []
    if (Number(number) !== options.length + 1) continue
    if (mark === '●') selected = options.length
    options.push(label.trim())
  }
  // In the field the keys are other ones: Enter submits, it does not select.
  const isField = lines.some((line) => /^Enter to submit\b/.test(line)) && selected === options.length - 1
  return { options, selected, field: isField ? (options.at(-1) ?? '') : undefined }
}
