/** A table for a terminal, from one list of columns: another column is another line in that list. Pure. */
import { cleanLine } from './clean-text.ts'
import { cutToWidth, textWidth } from './text-width.ts'

export type Column<Row> = {
  readonly title: string
  /** May hold anything: it is cleaned here. */
  readonly text: (row: Row) => string
  /** Longer texts are cut. Undefined: no limit. */
  readonly widthMax?: number
  readonly align?: 'left' | 'right'
}

const gap = '  '

/** Lines, the first with the titles; without a trailing newline. `columnsMax` cuts every line (for a screen that must not wrap). */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  columnsMax = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map((row) =>
    columns.map((column) =>
      cutToWidth(cleanLine(column.text(row)) || '-', column.widthMax ?? Number.POSITIVE_INFINITY),
    ),
  )
  const lines = [columns.map(({ title }) => title), ...cells]
  const widths = columns.map((_column, index) => Math.max(...lines.map((line) => textWidth(line[index] ?? ''))))
  return lines
    .map((line) => {
      const padded = line.map((cell, index) => {
        const blanks = ' '.repeat(Math.max(0, (widths[index] ?? 0) - textWidth(cell)))
        return columns[index]?.align === 'right' ? blanks + cell : cell + blanks
      })
      return cutToWidth(padded.join(gap).trimEnd(), columnsMax)
    })
    .join('\n')
}

/** Name and value below one another, the values aligned. */
export function formatFacts(facts: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...facts.map(([name]) => textWidth(name)))
  return facts
    .map(([name, value]) => `${name}${' '.repeat(width - textWidth(name))}${gap}${value}`.trimEnd())
    .join('\n')
}
