/**
 * The dialog that stands where the composer would be: what it asks, its options, and which is chosen. Options are numbered
 * without a gap, so they are read from the last `1.` on: what an agent wrote before it may look like options, too. Pure.
 * Source: fixtures/0.171.0.
 */
export type Prompt = {
  readonly text: string
  readonly options: readonly string[]
  /** Zero-based; -1 where none is marked. */
  readonly selected: number
  /** What stands in the field for notes; undefined where there is none. */
  readonly notes: string | undefined
}

/** Offered after the options of a question. */
export const otherLabel = 'None of the above'

const optionPattern = /^ *([›>]?) ?(\d{1,2})\. (\S.*)$/
/** Counts of a form, which say nothing about the question. */
const headingPattern = /^(?:Field \d+\/\d+|Question \d+\/\d+(?: \(\d+ unanswered\))?)$/
/** What an option means stands in a second column. */
const columnPattern = / {2,}\S.*$/
const notesPattern = /^ +› (.*)$/

export function readPrompt(lines: readonly string[], hasColumns: boolean): Prompt {
  const first = lines.findLastIndex((line) => optionPattern.exec(line)?.[2] === '1')
  const asked = lines.slice(0, first < 0 ? lines.length : first)
  const text = asked
    .map((line) => line.trim())
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !headingPattern.test(line))
    .join('\n')
  if (first < 0) return { text, options: [], selected: -1, notes: undefined }
  return { text, ...readOptions(lines.slice(first), hasColumns) }
}

function readOptions(lines: readonly string[], hasColumns: boolean): Omit<Prompt, 'text'> {
  const options: string[] = []
  let selected = -1
  let notes: string | undefined
  for (const line of lines) {
    const [, mark = '', number, label = ''] = optionPattern.exec(line) ?? []
    const field = notesPattern.exec(line)?.[1]
    if (Number(number) === options.length + 1) {
      if (mark !== '') selected = options.length
      options.push(hasColumns ? label.replace(columnPattern, '') : label)
    } else if (field !== undefined) notes = field
    else if (!hasColumns && notes === undefined && /^ {5,}\S/.test(line)) {
      const [last = ''] = options.splice(-1)
      options.push(`${last} ${line.trim()}`)
    }
  }
  return { options, selected, notes }
}
