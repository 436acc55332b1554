/**
 * What the program shows at the bottom of its screen, as rows for a size. Pure. From top to bottom: the part of the
 * answer that is not a whole line yet, the activity line, queued messages, then the composer and its footer, or a dialog
 * in their place. All frames and the activity line start in the first column; whatever a message or an answer holds is
 * indented, so nothing that is said can look like them.
 */
import { cutLine, makePaintable, textWidth, wrapLine } from './width.ts'

export type ViewSize = { readonly cols: number; readonly rows: number }

export type DialogView = {
  readonly title: 'Permission' | 'Question' | 'Trust'
  readonly text: string
  readonly options: readonly string[]
  readonly selected: number
  /** What has been typed as a free answer; undefined when no text is asked for. */
  readonly input: string | undefined
}

export type ViewState = {
  readonly phase: 'starting' | 'main'
  /** The answer's last line while it is being written. */
  readonly tail: string
  /** What the first column says: activity while busy, else how the last turn ended. */
  readonly activity: string | undefined
  readonly queued: readonly string[]
  readonly draft: string
  readonly footer: string
  readonly dialog: DialogView | undefined
}

export type View = {
  readonly rows: readonly string[]
  /** Zero-based, in `rows`. */
  readonly cursor: { readonly row: number; readonly col: number }
}

export const ghostText = 'Say what to do, or give rules'
const draftRowsMax = 8
const dialogTextRowsMax = 6
const queuedShownMax = 3
/** Only the end of a draft is laid out. Units: characters. */
const draftCharsShownMax = 8_192

const dim = (text: string): string => `\x1b[2m${text}\x1b[0m`
const bold = (text: string): string => `\x1b[1m${text}\x1b[0m`

export function renderView(state: ViewState, size: ViewSize): View {
  if (state.phase === 'starting') return { rows: [dim('scripted is starting…')], cursor: { row: 0, col: 0 } }
  const above = renderAbove(state, size)
  const below = state.dialog === undefined ? renderComposer(state, size) : renderDialog(state.dialog, size)
  // A very low screen shows the bottom.
  const rowsMax = Math.max(size.rows - 1, 4)
  const excess = Math.max(above.length + below.rows.length - rowsMax, 0)
  const rows = [...above, ...below.rows].slice(excess)
  return { rows, cursor: { row: Math.max(above.length + below.cursor.row - excess, 0), col: below.cursor.col } }
}

function renderAbove(state: ViewState, size: ViewSize): readonly string[] {
  const tail = state.tail === '' ? [] : wrapLine(makePaintable(state.tail), size.cols - 2).map((row) => `  ${row}`)
  const activity = state.activity === undefined ? [] : [cutLine(state.activity, size.cols)]
  const shown = state.queued.slice(0, queuedShownMax).map((text) => {
    const first = makePaintable(text.split(/[\r\n]/, 1)[0] ?? '')
    return dim(cutLine(`  ↳ queued: ${first}`, size.cols))
  })
  const more = state.queued.length - shown.length
  return [...tail.slice(-3), '', ...activity, ...shown, ...(more > 0 ? [dim(`  ↳ and ${more} more`)] : [])]
}

/** Rows of one framed line: continued rows end in a broken border, so that the text can be put together again. */
function frameRows(lines: readonly string[], cols: number, prefix: (index: number) => string): readonly string[] {
  const inner = cols - 6
  return lines.flatMap((line, index) => {
    const parts = wrapLine(makePaintable(line), inner)
    return parts.map((part, at) => {
      const border = at === parts.length - 1 ? '│' : '┆'
      return `│ ${at === 0 ? prefix(index) : '  '}${part}\x1b[${cols}G${border}`
    })
  })
}

function renderComposer(state: ViewState, size: ViewSize): View {
  const { cols } = size
  const top = `╭${'─'.repeat(cols - 2)}╮`
  const bottom = `╰${'─'.repeat(cols - 2)}╯`
  const footer = dim(cutLine(`  ${state.footer}`, cols))
  if (state.draft === '') {
    const ghost = `│ ❯ ${dim(cutLine(ghostText, cols - 6))}\x1b[${cols}G│`
    return { rows: [top, ghost, bottom, footer], cursor: { row: 1, col: 4 } }
  }
  const lines = state.draft.slice(-draftCharsShownMax).split(/\r\n|\r|\n/)
  const all = frameRows(lines, cols, (index) => (index === 0 ? '❯ ' : '  '))
  const rows = all.slice(-Math.min(draftRowsMax, Math.max(size.rows - 8, 1)))
  const last = wrapLine(makePaintable(lines.at(-1) ?? ''), cols - 6).at(-1) ?? ''
  return {
    rows: [top, ...rows, bottom, footer],
    cursor: { row: rows.length, col: Math.min(4 + textWidth(last), cols - 1) },
  }
}

function renderDialog(dialog: DialogView, size: ViewSize): View {
  const { cols } = size
  const heading = `╭─ ${dialog.title} `
  const top = `${heading}${'─'.repeat(Math.max(cols - heading.length - 1, 1))}╮`
  const bottom = `╰${'─'.repeat(cols - 2)}╯`
  const text = frameRows(dialog.text.split(/\r\n|\r|\n/), cols, () => '  ')
  const cut = text.length > dialogTextRowsMax ? [...text.slice(0, dialogTextRowsMax - 1), `│   …\x1b[${cols}G│`] : text
  const options = dialog.options.map((option, index) => {
    const mark = index === dialog.selected ? '❯ ' : '  '
    const label = cutLine(makePaintable(`${index + 1}. ${option.replaceAll(/[\r\n]+/g, ' ')}`), cols - 6)
    return `│ ${mark}${index === dialog.selected ? bold(label) : label}\x1b[${cols}G│`
  })
  const typed = dialog.input === undefined ? undefined : wrapLine(makePaintable(dialog.input), cols - 8).at(-1)
  const input = typed === undefined ? [] : [`│ » ${typed}\x1b[${cols}G│`]
  const keys =
    dialog.input === undefined
      ? '↑/↓ choose · Enter confirm · Esc reject'
      : 'type the answer · Enter confirm · Esc reject'
  const rows = [top, ...cut, `│\x1b[${cols}G│`, ...options, ...input, bottom, dim(cutLine(`  ${keys}`, cols))]
  const row = typed === undefined ? 1 + cut.length + 1 + dialog.selected : rows.length - 3
  return { rows, cursor: { row, col: typed === undefined ? 2 : 4 + textWidth(typed) } }
}
