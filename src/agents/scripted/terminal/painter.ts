/**
 * Puts rows on the terminal. Inline: finished lines scroll away above a live region that is overwritten in place.
 * Alternate: the whole screen is the program's. Each picture is one write, so that a look in between sees the old one or
 * the new one.
 */
import type { ScreenKind } from '../options.ts'
import type { View, ViewSize } from './view.ts'

export type Picture = {
  /** Rows to print for good above the live region; inline only. */
  readonly printed: readonly string[]
  /** The last rows of the conversation, for a screen that is painted anew. */
  readonly tail: (rowsMax: number) => readonly string[]
  readonly view: View
  readonly size: ViewSize
}

const eraseRow = '\x1b[2K'
const hideCursor = '\x1b[?25l'
const showCursor = '\x1b[?25h'

export class Painter {
  readonly #kind: ScreenKind
  readonly #write: (text: string) => void
  /** Row of the cursor in the live region as it was last painted; undefined: paint everything anew. */
  #cursorRow: number | undefined
  #last = ''
  #rowsBelow = 0

  constructor(kind: ScreenKind, write: (text: string) => void) {
    this.#kind = kind
    this.#write = write
  }

  /** Asks the terminal for what the program needs. */
  enter(bracketedPaste: boolean): void {
    this.#write((this.#kind === 'alternate' ? '\x1b[?1049h\x1b[2J\x1b[H' : '') + (bracketedPaste ? '\x1b[?2004h' : ''))
    if (this.#kind === 'inline') this.#cursorRow = 0
  }

  /** Gives the terminal back. */
  leave(bracketedPaste: boolean): void {
    const end = this.#kind === 'alternate' ? '\x1b[?1049l' : `${'\n'.repeat(this.#rowsBelow)}\r\n`
    this.#write(`${bracketedPaste ? '\x1b[?2004l' : ''}${end}${showCursor}`)
  }

  setTitle(title: string): void {
    this.#write(`\x1b]2;${title}\x07`)
  }

  /** The size changed: what stands on the screen can not be trusted. */
  forget(): void {
    this.#cursorRow = undefined
    this.#last = ''
  }

  paint(picture: Picture): void {
    const text = this.#kind === 'alternate' ? this.#paintAlternate(picture) : this.#paintInline(picture)
    if (text === this.#last && picture.printed.length === 0) return
    this.#last = text
    this.#write(text)
  }

  #paintAlternate({ tail, view, size }: Picture): string {
    const above = tail(Math.max(size.rows - view.rows.length, 0))
    const rows = [...above, ...view.rows]
    const blank = Array.from({ length: Math.max(size.rows - rows.length, 0) }, () => '')
    const body = [...rows, ...blank].map((row, index) => `\x1b[${index + 1};1H${eraseRow}${row}`).join('')
    return `${hideCursor}${body}\x1b[${above.length + view.cursor.row + 1};${view.cursor.col + 1}H${showCursor}`
  }

  #paintInline({ printed, tail, view, size }: Picture): string {
    const isFresh = this.#cursorRow === undefined
    const start = isFresh ? '\x1b[H\x1b[2J' : `\r${moveUp(this.#cursorRow ?? 0)}`
    const above = isFresh ? tail(Math.max(size.rows - view.rows.length, 0)) : printed
    const body = [...above, ...view.rows].map((row) => `${eraseRow}${row}`).join('\r\n')
    const up = moveUp(view.rows.length - 1 - view.cursor.row)
    this.#cursorRow = view.cursor.row
    this.#rowsBelow = view.rows.length - 1 - view.cursor.row
    return `${hideCursor}${start}${body}\x1b[J${up}\x1b[${view.cursor.col + 1}G${showCursor}`
  }
}

function moveUp(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : ''
}
