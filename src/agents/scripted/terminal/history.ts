/** The conversation as lines above the composer: bounded, laid out for a width when asked. */
import { makePaintable, wrapLine } from './width.ts'

export type HistoryLine = {
  /** Two columns: `❯ ` before a message, `● ` before an answer, blanks before what follows. */
  readonly mark: string
  readonly text: string
  readonly isDim: boolean
}

export const historyLinesMax = 2_000

export class History {
  #lines: HistoryLine[] = []

  add(line: HistoryLine): void {
    this.#lines.push(line)
    if (this.#lines.length > historyLinesMax * 2) this.#lines = this.#lines.slice(-historyLinesMax)
  }

  /** The last rows, at most `rowsMax`. */
  renderTail(cols: number, rowsMax: number): readonly string[] {
    const groups: (readonly string[])[] = []
    let count = 0
    for (let at = this.#lines.length - 1; at >= 0 && count < rowsMax; at--) {
      const line = this.#lines[at]
      if (line === undefined) break
      const rows = renderLine(line, cols)
      groups.push(rows)
      count += rows.length
    }
    return groups.toReversed().flat().slice(-rowsMax)
  }
}

export function renderLine(line: HistoryLine, cols: number): readonly string[] {
  return wrapLine(makePaintable(line.text), cols - 2).map((row, index) => {
    const whole = `${index === 0 ? line.mark : '  '}${row}`
    return line.isDim ? `\x1b[2m${whole}\x1b[0m` : whole
  })
}
