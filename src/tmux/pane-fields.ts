/**
 * What is asked about a pane, in one format, and how the answer is read. Texts that programs or
 * people choose (titles, names, tags) may hold any separator, so they stand at the end one after
 * the other and their lengths in bytes stand with the fixed fields.
 * Source: tmux(1), FORMATS (`n:` is a length).
 */
const fixedFields = [
  'pane_id',
  'window_id',
  'session_id',
  'pane_pid',
  'pane_dead',
  'pane_dead_status',
  'pane_dead_signal',
  'pane_pipe',
  'pane_in_mode',
  'pane_input_off',
  'alternate_on',
  'cursor_x',
  'cursor_y',
  'cursor_flag',
  'history_size',
  'pane_width',
  'pane_height',
] as const
const textFields = ['session_name', 'window_name', 'pane_title', 'pane_mode'] as const
/** Looked up in the process table at each mention, so its length could be another's: it ends the line instead. */
const lastField = 'pane_current_command'

export type PaneFacts = {
  /** As %12; never used again during one life of the server. */
  readonly paneId: string
  readonly windowId: string
  readonly sessionId: string
  /** Process that the pane was created with; kept when it is dead. */
  readonly pid: number
  readonly isDead: boolean
  /** Undefined while it lives, after a signal, and where the server lost the exit (see `healLostExit`). */
  readonly deadStatus: number | undefined
  /** Undefined below tmux 3.3. */
  readonly deadSignal: number | undefined
  /** A pipe-pane command reads it; may be told late after that command's end. */
  readonly hasPipe: boolean
  /** `copy-mode` and the like; undefined when the program itself is shown. */
  readonly mode: string | undefined
  readonly isInputOff: boolean
  readonly isAlternate: boolean
  readonly cursor: { readonly x: number; readonly y: number; readonly isVisible: boolean }
  /** Lines above the viewport. */
  readonly historySize: number
  readonly size: { readonly cols: number; readonly rows: number }
  readonly sessionName: string
  readonly windowName: string
  readonly title: string
  readonly currentCommand: string
  /** Value of the tag option that was asked for; empty when the pane has none. */
  readonly tag: string
}

/** A format that prints one pane on one line. `tagOption` is a user option, as @owner. */
export function paneFormat(tagOption: string): string {
  const texts = [...textFields, tagOption]
  const fixed = [...fixedFields.map((name) => `#{${name}}`), ...texts.map((name) => `#{n:${name}}`)]
  return `${fixed.join('|')}|${texts.map((name) => `#{${name}}`).join('')}#{${lastField}}`
}

const utf8 = new TextDecoder('utf-8')

/** Reads a line printed with `paneFormat`; undefined when it is none, as the empty line that a missing pane gives. */
export function parsePane(line: Uint8Array): PaneFacts | undefined {
  const counts = textFields.length + 1
  const fixedCount = fixedFields.length + counts
  const fixed: string[] = []
  let at = 0
  while (fixed.length < fixedCount) {
    const end = line.indexOf(0x7c, at)
    if (end < 0) return undefined
    fixed.push(utf8.decode(line.subarray(at, end)))
    at = end + 1
  }
  const texts = fixed.slice(fixedFields.length).map((length) => {
    const end = at + Number(length)
    const text = utf8.decode(line.subarray(at, end))
    at = end
    return text
  })
  // A server that prints escaped would shift every text: better no answer than a mixed-up one.
  if (!(at <= line.length) || !/^%\d+$/.test(fixed[0] ?? '')) return undefined
  return build(fixed, [...texts, utf8.decode(line.subarray(at))])
}

function build(fixed: readonly string[], texts: readonly string[]): PaneFacts {
  const field = (name: (typeof fixedFields)[number]): string => fixed[fixedFields.indexOf(name)] ?? ''
  const count = (name: (typeof fixedFields)[number]): number => Number(field(name))
  const flag = (name: (typeof fixedFields)[number]): boolean => field(name) === '1'
  const maybe = (name: (typeof fixedFields)[number]): number | undefined =>
    field(name) === '' ? undefined : count(name)
  const [sessionName = '', windowName = '', title = '', mode = '', tag = '', currentCommand = ''] = texts
  return {
    paneId: field('pane_id'),
    windowId: field('window_id'),
    sessionId: field('session_id'),
    pid: count('pane_pid'),
    isDead: flag('pane_dead'),
    deadStatus: maybe('pane_dead_status'),
    deadSignal: maybe('pane_dead_signal'),
    hasPipe: flag('pane_pipe'),
    mode: count('pane_in_mode') > 0 ? mode || 'unnamed' : undefined,
    isInputOff: flag('pane_input_off'),
    isAlternate: flag('alternate_on'),
    cursor: { x: count('cursor_x'), y: count('cursor_y'), isVisible: flag('cursor_flag') },
    historySize: count('history_size'),
    size: { cols: count('pane_width'), rows: count('pane_height') },
    sessionName,
    windowName,
    title,
    currentCommand,
    tag,
  }
}
