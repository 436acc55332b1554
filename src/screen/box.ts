/**
 * Finding a program's frame at the bottom of the screen. What an agent says is above it and may look like anything, so
 * only a frame counts that starts in the first column, is as wide as the screen, and has nothing below it but a footer.
 * Pure.
 */
export type BoxRow = {
  readonly text: string
  /** The row was full and its line goes on in the next row. */
  readonly isContinued: boolean
}

export type BottomBox = {
  /** Text in the upper border. */
  readonly title: string | undefined
  readonly rows: readonly BoxRow[]
  /** Lines below the frame that hold anything. */
  readonly footer: readonly string[]
  /** Lines above it, in order, blank ones too. */
  readonly above: readonly string[]
}

export type BoxOptions = {
  readonly cols: number
  readonly footerLinesMax: number
}

const rowPattern = /^│ (.*)([│┆])$/
const topPattern = /^╭─(?: (.+?) )?─*╮$/
const bottomPattern = /^╰─+╯$/

/** The frame that ends the screen; undefined when there is none, or it is not whole. */
export function findBottomBox(lines: readonly string[], options: BoxOptions): BottomBox | undefined {
  const last = lines.findLastIndex((line) => line.trim() !== '')
  const bottom = findBottomBorder(lines, last, options)
  if (bottom === undefined) return undefined
  const rows: BoxRow[] = []
  for (let at = bottom - 1; at >= 0; at--) {
    const line = lines[at] ?? ''
    const top = topPattern.exec(line)
    if (top !== null && line.length === options.cols) {
      // A frame without rows is one that is being painted.
      if (rows.length === 0) return undefined
      return {
        title: top[1],
        rows: rows.toReversed(),
        footer: lines.slice(bottom + 1, last + 1).filter((below) => below.trim() !== ''),
        above: lines.slice(0, at),
      }
    }
    const row = parseRow(line)
    if (row === undefined) return undefined
    rows.push(row)
  }
  return undefined
}

function findBottomBorder(lines: readonly string[], last: number, options: BoxOptions): number | undefined {
  for (let at = last; at >= 0 && at >= last - options.footerLinesMax; at--) {
    const line = lines[at] ?? ''
    if (bottomPattern.test(line) && line.length === options.cols) return at
  }
  return undefined
}

function parseRow(line: string): BoxRow | undefined {
  const [whole, text = '', border] = rowPattern.exec(line) ?? []
  if (whole === undefined) return line === '│' ? { text: '', isContinued: false } : undefined
  const isContinued = border === '┆'
  // A full row keeps its blanks but for the one before the border: they may be the text's own.
  return { text: isContinued ? text.replace(/ $/, '') : text.trimEnd(), isContinued }
}

/** The lines that the rows were made of, each row's first `indent` columns left out. */
export function joinRows(rows: readonly BoxRow[], indent: number): readonly string[] {
  const lines: string[] = []
  let open: string | undefined
  for (const row of rows) {
    const line: string = (open ?? '') + row.text.slice(indent)
    open = row.isContinued ? line : undefined
    if (open === undefined) lines.push(line)
  }
  return open === undefined ? lines : [...lines, open]
}
