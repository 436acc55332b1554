/**
 * What Codex says of itself in marks that a terminal does not show: the state of its work (OSC 7501, "program status", which
 * tmux drops) and the window title (OSC 0), at whose end CAO lets it write the id of the conversation. Read from the bytes
 * that it printed, however they are cut. Pure but for what it remembers.
 */
export const programStates = ['idle', 'working', 'blocked', 'done', 'error', 'clear'] as const
export type ProgramState = (typeof programStates)[number]

export type ProgramMark =
  | { readonly kind: 'state'; readonly state: ProgramState }
  /** The conversation on the screen. `sessionId` may be cut at its end. */
  | { readonly kind: 'conversation'; readonly sessionId: string }

// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin and end a mark
const markPattern = /\u001b\](0|7501);([^\u0007\u001b]*)(?:\u0007|\u001b\\)/g
/** A mark that is longer is none. Units: bytes. */
const markBytesMax = 2_048

export class MarkScanner {
  #carry = ''
  #lastId = ''

  /** The marks that end in `bytes`, in order; a title that names the same conversation again is left out. */
  feed(bytes: Uint8Array): readonly ProgramMark[] {
    const text = this.#carry + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const marks: ProgramMark[] = []
    let end = 0
    for (const match of text.matchAll(markPattern)) {
      end = match.index + match[0].length
      const mark = match[1] === '0' ? this.#readTitle(match[2] ?? '') : readState(match[2] ?? '')
      if (mark !== undefined) marks.push(mark)
    }
    const begin = text.indexOf('\u001b]', Math.max(end, text.length - markBytesMax))
    const tail = begin >= 0 ? text.slice(begin) : text.endsWith('\u001b') ? '\u001b' : ''
    this.#carry = tail
    return marks
  }

  #readTitle(title: string): ProgramMark | undefined {
    const sessionId = findSessionId(title)
    if (sessionId === undefined || sessionId === this.#lastId) return undefined
    this.#lastId = sessionId
    return { kind: 'conversation', sessionId }
  }
}

const idPattern = /(?:^|\| )([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{5,12})(?:\.\.\.)?$/

/** The id at the end of a title, or as much of it as stands there. */
export function findSessionId(title: string): string | undefined {
  return idPattern.exec(title)?.[1]
}

/** `state=working:app=codex`; what follows a colon is more about it. */
function readState(text: string): ProgramMark | undefined {
  const fields = new Map(text.split(':').map((field): [string, string] => splitField(field)))
  const state = programStates.find((one) => one === fields.get('state'))
  return state === undefined || fields.get('app') !== 'codex' ? undefined : { kind: 'state', state }
}

function splitField(field: string): [string, string] {
  const at = field.indexOf('=')
  return at < 0 ? [field, ''] : [field.slice(0, at), field.slice(at + 1)]
}
