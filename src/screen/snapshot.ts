/** One look at a terminal: what a person would see, and the facts tmux tells with it. */
export type Size = { readonly cols: number; readonly rows: number }

export type Snapshot = {
  /** Visible rows from top to bottom, wrapped lines joined, trailing blanks removed; with history first when asked for. */
  readonly lines: readonly string[]
  readonly size: Size
  readonly title: string
  readonly isAlternate: boolean
  readonly cursor: { readonly x: number; readonly y: number; readonly isVisible: boolean }
  /** A pane mode of tmux (copy mode, choose-tree) covers the program. */
  readonly mode: string | undefined
  readonly isInputOff: boolean
  /** Rows that the terminal keeps above the screen; `lines` begins with no more of them than were asked for. */
  readonly historyRows?: number
  /** Milliseconds since 1970, taken before the capture was asked for. */
  readonly atMs: number
}

/** The last `count` lines that hold anything but blanks, in order. */
export function bottomLines(snapshot: Snapshot, count: number): readonly string[] {
  return snapshot.lines.filter((line) => line.trim() !== '').slice(-count)
}
