/**
 * Bytes from the terminal in, key strokes out. Pure: it holds what is unfinished (half a character, an escape
 * sequence, a paste that has not ended) and nothing else. A lone Escape can not be told from the start of a
 * sequence by its bytes; the owner calls `flush` when nothing followed for `escapeWaitMs`.
 *
 * Source: ECMA-48 (CSI), xterm control sequences, "Bracketed Paste Mode".
 */
import { StringDecoder } from 'node:string_decoder'

export const keyNames = [
  'enter',
  'newline',
  'escape',
  'up',
  'down',
  'left',
  'right',
  'backspace',
  'tab',
  'C-c',
  'C-d',
  'C-u',
] as const
export type KeyName = (typeof keyNames)[number]

export type KeyEvent =
  | { readonly kind: 'key'; readonly name: KeyName }
  | { readonly kind: 'text'; readonly text: string }
  /** A whole bracketed paste, as it came. */
  | { readonly kind: 'paste'; readonly text: string }

/** How long a lone Escape may be the start of a longer sequence. Units: ms. */
export const escapeWaitMs = 25
/** A paste longer than this is cut; the program says so in its composer. Units: characters. */
export const pasteCharsMax = 16 * 1024 * 1024

const pasteStart = '\x1b[200~'
const pasteEnd = '\x1b[201~'

const controlKeys: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'newline',
  '\t': 'tab',
  '\x03': 'C-c',
  '\x04': 'C-d',
  '\x08': 'backspace',
  '\x15': 'C-u',
  '\x7f': 'backspace',
}

const sequenceKeys: Readonly<Record<string, KeyName>> = { A: 'up', B: 'down', C: 'right', D: 'left' }

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const sequencePattern = /^\x1b(?:\[[0-?]*[ -/]*([@-~])|O([ -~]))/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const printablePattern = /^[^\x00-\x1f\x7f]+/

export class KeyDecoder {
  readonly #decoder = new StringDecoder('utf8')
  #pending = ''
  /** Parts of a paste that has begun; undefined outside of one. */
  #paste: string[] | undefined
  #pasteChars = 0
  /** The last characters of the paste so far, which may be the start of its end mark. */
  #pasteTail = ''

  /** Whether an escape sequence stands unfinished, so that `flush` has something to decide. */
  get isUnfinished(): boolean {
    return this.#paste === undefined && this.#pending !== ''
  }

  push(bytes: Uint8Array): readonly KeyEvent[] {
    const events: KeyEvent[] = []
    let text = this.#decoder.write(Buffer.from(bytes))
    while (text !== '') {
      if (this.#paste !== undefined) {
        text = this.#takePaste(this.#paste, text, events)
        continue
      }
      text = this.#takeKeys(this.#pending + text, events)
    }
    return events
  }

  /** Decides that nothing more will come: a pending Escape is the key. */
  flush(): readonly KeyEvent[] {
    const pending = this.#pending
    this.#pending = ''
    return pending.startsWith('\x1b') ? [{ kind: 'key', name: 'escape' }] : []
  }

  /** Returns what follows the paste's end, or '' when it has not ended. */
  #takePaste(parts: string[], text: string, events: KeyEvent[]): string {
    const joined = this.#pasteTail + text
    const end = joined.indexOf(pasteEnd)
    if (end < 0) {
      const keep = Math.min(joined.length, pasteEnd.length - 1)
      this.#addToPaste(parts, joined.slice(0, joined.length - keep))
      this.#pasteTail = joined.slice(joined.length - keep)
      return ''
    }
    this.#addToPaste(parts, joined.slice(0, end))
    events.push({ kind: 'paste', text: parts.join('') })
    this.#paste = undefined
    this.#pasteTail = ''
    return joined.slice(end + pasteEnd.length)
  }

  #addToPaste(parts: string[], text: string): void {
    const room = pasteCharsMax - this.#pasteChars
    if (room <= 0 || text === '') return
    parts.push(text.slice(0, room))
    this.#pasteChars += text.length
  }

  /** Consumes keys up to a paste's start; returns what is left to take as paste. */
  #takeKeys(input: string, events: KeyEvent[]): string {
    this.#pending = ''
    let rest = input
    while (rest !== '') {
      if (rest.startsWith(pasteStart)) {
        this.#paste = []
        this.#pasteChars = 0
        return rest.slice(pasteStart.length)
      }
      if (rest.startsWith('\x1b')) {
        const used = takeSequence(rest, events)
        if (used === 0) {
          this.#pending = rest
          return ''
        }
        rest = rest.slice(used)
        continue
      }
      const run = printablePattern.exec(rest)?.[0]
      if (run !== undefined) events.push({ kind: 'text', text: run })
      const name = run === undefined ? controlKeys[rest.charAt(0)] : undefined
      if (name !== undefined) events.push({ kind: 'key', name })
      rest = rest.slice(run?.length ?? 1)
    }
    return ''
  }
}

/** Takes one escape sequence off the start of `rest`; returns its length, 0 when it is unfinished. */
function takeSequence(rest: string, events: KeyEvent[]): number {
  const [whole, csi, ss3] = sequencePattern.exec(rest) ?? []
  if (whole !== undefined) {
    const name = sequenceKeys[csi ?? ss3 ?? '']
    if (name !== undefined) events.push({ kind: 'key', name })
    return whole.length
  }
  const second = rest.charAt(1)
  if (second === '' || ((second === '[' || second === 'O') && rest.length < 32)) return 0
  events.push({ kind: 'key', name: 'escape' })
  return 1
}
