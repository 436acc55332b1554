/**
 * What Gemini CLI, and a program made from it, says of itself in the window title, at every change and in any size: at rest, at work,
 * or waiting for an answer. Read from the bytes that it printed, however they are cut. Pure but for what it remembers.
 */
export type ProgramState = 'ready' | 'working' | 'waiting'

/** What a title says; undefined: nothing. */
export type ReadTitle = (title: string) => ProgramState | undefined

// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin and end a title
const titlePattern = /\u001b\][02];([^\u0007\u001b]*)(?:\u0007|\u001b\\)/g
/** A title that is longer is none. Units: bytes. */
const titleBytesMax = 1_024

export class TitleScanner {
  readonly #read: ReadTitle
  #carry = Buffer.alloc(0)

  constructor(read: ReadTitle) {
    this.#read = read
  }

  /** The states of the titles that end in `bytes`, in order. */
  feed(bytes: Uint8Array): readonly ProgramState[] {
    // Byte by byte, so that a character that is cut in two is whole again with what follows.
    const text = Buffer.concat([this.#carry, bytes]).toString('latin1')
    const states: ProgramState[] = []
    let end = 0
    for (const match of text.matchAll(titlePattern)) {
      end = match.index + match[0].length
      const state = this.#read(Buffer.from(match[1] ?? '', 'latin1').toString('utf8'))
      if (state !== undefined) states.push(state)
    }
    const begin = text.indexOf('\u001b]', Math.max(end, text.length - titleBytesMax))
    const tail = begin >= 0 ? text.slice(begin) : text.endsWith('\u001b') ? '\u001b' : ''
    this.#carry = Buffer.from(tail, 'latin1')
    return states
  }
}
