/**
 * The program's screen: the conversation, the composer and what is below, painted together when something changed.
 * Changes within one interval make one picture. State is set by the agent; how it looks is decided in `terminal/`.
 */
import type { Clock } from '../../async/clock.ts'
import type { ScreenKind } from './options.ts'
import { History, type HistoryLine, renderLine } from './terminal/history.ts'
import { Painter } from './terminal/painter.ts'
import { renderView, type ViewSize, type ViewState } from './terminal/view.ts'

/** Pictures are at least this far apart. Units: ms. */
const pictureGapMs = 12
const sizeMin: ViewSize = { cols: 20, rows: 6 }

export type Tty = {
  readonly write: (text: string) => void
  readonly size: () => ViewSize
}

export class Screen {
  readonly #clock: Clock
  readonly #tty: Tty
  readonly #kind: ScreenKind
  readonly #painter: Painter
  readonly #history = new History()
  #printed: string[] = []
  #state: ViewState = {
    phase: 'starting',
    tail: '',
    activity: undefined,
    queued: [],
    draft: '',
    footer: '',
    dialog: undefined,
  }
  #title = ''
  #paintedAtMs = 0
  #timer: Disposable | undefined

  constructor(clock: Clock, tty: Tty, kind: ScreenKind) {
    this.#clock = clock
    this.#tty = tty
    this.#kind = kind
    this.#painter = new Painter(kind, tty.write)
  }

  enter(bracketedPaste: boolean): void {
    this.#painter.enter(bracketedPaste)
    this.#paintNow()
  }

  leave(bracketedPaste: boolean): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#paintNow()
    this.#painter.leave(bracketedPaste)
  }

  get state(): ViewState {
    return this.#state
  }

  set(change: Partial<ViewState>): void {
    this.#state = { ...this.#state, ...change }
    this.#requestPaint()
  }

  setTitle(title: string): void {
    if (title === this.#title) return
    this.#title = title
    this.#painter.setTitle(title)
  }

  /** Adds finished lines to the conversation. */
  add(lines: readonly HistoryLine[]): void {
    const { cols } = this.#size()
    for (const line of lines) {
      this.#history.add(line)
      if (this.#kind === 'inline') this.#printed.push(...renderLine(line, cols))
    }
    this.#requestPaint()
  }

  resize(): void {
    this.#painter.forget()
    this.#requestPaint()
  }

  #size(): ViewSize {
    const size = this.#tty.size()
    return { cols: Math.max(size.cols, sizeMin.cols), rows: Math.max(size.rows, sizeMin.rows) }
  }

  #requestPaint(): void {
    if (this.#timer !== undefined) return
    const waitMs = Math.max(this.#paintedAtMs + pictureGapMs - this.#clock.monotonicMs(), 0)
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined
      this.#paintNow()
    })
  }

  #paintNow(): void {
    this.#paintedAtMs = this.#clock.monotonicMs()
    const size = this.#size()
    const view = renderView(this.#state, size)
    const printed = this.#printed
    this.#printed = []
    this.#painter.paint({ printed, tail: (rowsMax) => this.#history.renderTail(size.cols, rowsMax), view, size })
  }
}
