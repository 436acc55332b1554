/**
 * The dialog in the composer's place: what it asks, its options, and which is chosen. Options are numbered without a gap; the chosen
 * one is marked. Pure. Source: fixtures/0.24.4.
 */
export type Prompt = {
  readonly text: string
  readonly options: readonly string[]
  /** Zero-based; -1 where none is marked. */
  readonly selected: number
}

/** Offered after the options of a question; words of one's own are typed there. */
export const otherPattern = /^Type something\b/

/** Drawn behind what is typed there. */
const cursorMark = /[\u200b\s]+$/

const optionPattern = /^([›❯]?) ?(\d{1,2})\. (\S.*)$/

export function readPrompt(lines: readonly string[]): Prompt {
  const first = lines.findLastIndex((line) => optionPattern.exec(line)?.[2] === '1')
  const asked = lines.slice(0, first < 0 ? lines.length : first)
  const text = [...new Set(asked.map((line) => line.replace(/ ←$/, '').trim()))]
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
    .join('\n')
  const options: string[] = []
  let selected = -1
  for (const line of first < 0 ? [] : lines.slice(first)) {
    const [, mark = '', number, label = ''] = optionPattern.exec(line) ?? []
    if (Number(number) !== options.length + 1) continue
    if (mark !== '') selected = options.length
    options.push(label.replace(cursorMark, ''))
  }
  return { text, options, selected }
}
