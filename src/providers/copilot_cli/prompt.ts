/** The frame or form in the composer's place: what it asks, its options, and which is chosen. Pure. Source: fixtures/1.0.102. */
export type Prompt = {
  readonly text: string
  readonly options: readonly string[]
  /** Zero-based; -1 where none is marked. */
  readonly selected: number
}

/** Offered after the options of a question, for an answer in one's own words. */
export const isOther = (option: string): boolean => option.startsWith('Other (type your answer')
/** Stands in the empty field for it. */
export const emptyField = 'Type your answer...'

const numberedPattern = /^([❯ ]?) *(\d)\. (\S.*)$/
const markedPattern = /^ ([❯ ]) (\S.*)$/
/** Borders of a frame within the frame, and lines. */
const edges = /^[│╭╰─╮╯ ]+|[│╭╰─╮╯ ]+$/g

/** Options are numbered; a long one goes on in the next row. */
export function readNumbered(lines: readonly string[]): Prompt {
  const body = lines.slice(
    0,
    lines.findLastIndex((line) => line.trim() !== ''),
  )
  const first = body.findLastIndex((line) => numberedPattern.exec(line)?.[2] === '1')
  if (first < 0) return { text: textOf(lines), options: [], selected: -1 }
  const options: string[] = []
  let selected = -1
  for (const line of body.slice(first)) {
    const [, mark = '', number, label = ''] = numberedPattern.exec(line) ?? []
    if (Number(number) === options.length + 1) {
      if (mark === '❯') selected = options.length
      options.push(label.trim())
    } else if (line.trim() !== '' && options.length > 0) {
      const [last = ''] = options.splice(-1)
      options.push(`${last} ${line.trim()}`)
    }
  }
  return { text: textOf(body.slice(0, first)), options, selected }
}

/** A form: after the text the name of its field, then options without numbers. */
export function readForm(lines: readonly string[]): Prompt {
  const body = lines.slice(
    0,
    lines.findLastIndex((line) => line.trim() !== ''),
  )
  const marked = body.findLastIndex((line) => line.startsWith(' ❯ '))
  const begin = body.slice(0, Math.max(marked, 0)).findLastIndex((line) => !markedPattern.test(line)) + 1
  const rows = marked < 0 ? [] : body.slice(begin).flatMap((line) => markedPattern.exec(line)?.[2] ?? [])
  const asked = body
    .slice(0, marked < 0 ? body.length : begin)
    .filter((line) => line.trim() !== 'Copilot needs information.' && !/^ [^:]+:$/.test(line))
  return { text: textOf(asked), options: rows.map((row) => row.trim()), selected: marked < 0 ? -1 : marked - begin }
}

function textOf(lines: readonly string[]): string {
  return lines
    .map((line) => line.replaceAll(edges, ''))
    .filter((line) => line !== '')
    .join('\n')
}
