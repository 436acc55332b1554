/**
 * A captured screen in a file, as `tmux capture-pane -e` or `cao rules record` makes it, back into a snapshot. What the
 * text does not hold (title, alternate screen, cursor) is told, stands in a file of the same name that ends in `.json`,
 * or is guessed. Pure.
 */
import type { Size, Snapshot } from '../screen/snapshot.ts'

export type CaptureFacts = {
  readonly title: string | undefined
  readonly isAlternate: boolean | undefined
  readonly cols: number | undefined
  readonly rows: number | undefined
  readonly cursor: Snapshot['cursor'] | undefined
}

export const noFacts: CaptureFacts = {
  title: undefined,
  isAlternate: undefined,
  cols: undefined,
  rows: undefined,
  cursor: undefined,
}

/** What stands beside a capture: `{ title, x, y, visible, alternate, cols, rows }`, each optional. */
export function parseFacts(data: unknown): CaptureFacts {
  const fields = typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : {}
  const number = (name: string) => (typeof fields[name] === 'number' ? fields[name] : undefined)
  const [x, y] = [number('x'), number('y')]
  const isSet = (value: unknown) => value === true || value === 1
  return {
    title: typeof fields['title'] === 'string' ? fields['title'] : undefined,
    isAlternate: fields['alternate'] === undefined ? undefined : isSet(fields['alternate']),
    cols: number('cols'),
    rows: number('rows'),
    cursor: x === undefined || y === undefined ? undefined : { x, y, isVisible: isSet(fields['visible']) },
  }
}

/** The first that is told wins. */
export function mergeFacts(...all: readonly CaptureFacts[]): CaptureFacts {
  const first = <Name extends keyof CaptureFacts>(name: Name) => all.find((facts) => facts[name] !== undefined)?.[name]
  return {
    title: first('title'),
    isAlternate: first('isAlternate'),
    cols: first('cols'),
    rows: first('rows'),
    cursor: first('cursor'),
  }
}

/** A size in the name of a file or its folder, such as `busy-80x24.ansi`. */
export function factsOfName(path: string): CaptureFacts {
  const [, cols, rows] = /(\d{2,3})x(\d{2,3})(?=[^/]*(?:\/[^/]*)?$)/.exec(path) ?? []
  return cols === undefined ? noFacts : { ...noFacts, cols: Number(cols), rows: Number(rows) }
}

export function toSnapshot(text: string, facts: CaptureFacts): Snapshot {
  const styled = text.replaceAll('\r', '').replace(/\n$/, '').split('\n')
  const lines = styled.map((line) => stripEscapes(line).trimEnd())
  const size = { ...guessSize(lines), ...definedSize(facts) }
  return {
    lines,
    size,
    title: facts.title ?? '',
    isAlternate: facts.isAlternate ?? false,
    cursor: facts.cursor ?? findDrawnCursor(styled) ?? { x: 0, y: 0, isVisible: false },
    mode: undefined,
    isInputOff: false,
    atMs: 0,
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin the sequences
const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()*+][0-9A-Za-z]|.)|[\u0000-\u0008\u000b-\u001f]/g

export const stripEscapes = (line: string): string => line.replaceAll(escapes, '')

function definedSize({ cols, rows }: CaptureFacts): Partial<Size> {
  return { ...(cols === undefined ? {} : { cols }), ...(rows === undefined ? {} : { rows }) }
}

const ruledPattern = /^[─━═╭╮╰╯┌┐└┘▀▄▁▔╹╻]{20,}$/
const usualCols = 80

/** Of the widest line that is only drawn; text may have been wrapped, and is joined by the capture. */
function guessSize(lines: readonly string[]): Size {
  const ruled = lines.filter((line) => ruledPattern.test(line)).map((line) => line.length)
  const cols = ruled.length > 0 ? Math.max(...ruled) : Math.max(usualCols, ...lines.map((line) => line.length))
  return { cols, rows: lines.length }
}

/** Programs that hide the terminal's cursor draw one: a single cell in reverse video. The last one counts. */
function findDrawnCursor(styled: readonly string[]): Snapshot['cursor'] | undefined {
  for (let y = styled.length - 1; y >= 0; y--) {
    const line = styled[y] ?? ''
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it begins the sequence
    const at = line.search(
      /\u001b\[(?:\d+;)*7(?:;\d+)*m[^\u001b](?:\u001b\[(?:0|27)?m|\u001b\[(?:\d+;)*(?:0|27)(?:;\d+)*m|$)/,
    )
    if (at >= 0) return { x: stripEscapes(line.slice(0, at)).length, y, isVisible: false }
  }
  return undefined
}
