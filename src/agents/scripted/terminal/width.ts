/**
 * How many columns a text takes, and how it is cut into rows. It rather overestimates (joined emoji, flags): a row
 * that is a little short looks the same everywhere, one that is too long breaks the frame. Pure.
 *
 * Source: Unicode Standard Annex #11 (East Asian Width), the ranges that terminals draw wide.
 */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x23e9, 0x23f3],
  [0x25fd, 0x25fe],
  [0x2614, 0x2615],
  [0x2648, 0x2653],
  [0x26a1, 0x26a1],
  [0x26aa, 0x26ab],
  [0x26bd, 0x26be],
  [0x26c4, 0x26d4],
  [0x26ea, 0x26fd],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x2728, 0x2728],
  [0x274c, 0x2757],
  [0x2795, 0x27bf],
  [0x2b1b, 0x2b55],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f000, 0x1faff],
  [0x20000, 0x3fffd],
]

const zeroPattern = /^[\p{Mark}\p{Cf}]$/u

/** Columns of one character (a code point). */
export function charWidth(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x300) return code < 0x20 || (code >= 0x7f && code < 0xa0) ? 0 : 1
  // The emoji selector makes the character before it wide on some terminals.
  if (code === 0xfe0f) return 1
  if (zeroPattern.test(char)) return 0
  return wideRanges.some(([from, to]) => code >= from && code <= to) ? 2 : 1
}

const asciiPattern = /^[ -~]*$/

export function textWidth(text: string): number {
  if (asciiPattern.test(text)) return text.length
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** A text as it can be painted: tabs as spaces, other control characters as a dot. One line in, one line out. */
export function makePaintable(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  return line.replaceAll('\t', '    ').replaceAll(/[\x00-\x1f\x7f-\x9f]/g, '·')
}

/** Cuts a paintable line into rows of at most `cols` columns; at least one row. */
export function wrapLine(line: string, cols: number): readonly string[] {
  const width = Math.max(cols, 2)
  const rows: string[] = []
  if (asciiPattern.test(line)) {
    for (let at = 0; at < line.length; at += width) rows.push(line.slice(at, at + width))
    return rows.length === 0 ? [''] : rows
  }
  let row = ''
  let used = 0
  for (const char of line) {
    const size = charWidth(char)
    if (used + size > width) {
      rows.push(row)
      row = ''
      used = 0
    }
    row += char
    used += size
  }
  rows.push(row)
  return rows
}

/** The line when it fits, else its start and an ellipsis. */
export function cutLine(line: string, cols: number): string {
  if (textWidth(line) <= cols) return line
  return `${wrapLine(line, Math.max(cols - 1, 2))[0] ?? ''}…`
}
