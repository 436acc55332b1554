/**
 * Bytes of a log, in pieces, as lines that are harmless on a person's terminal. A program that paints its screen hardly ends a line:
 * where it goes to another row, one begins. Pure.
 */
import { StringDecoder } from 'node:string_decoder'
import { cleanText } from './clean-text.ts'

/** A line that does not end is given out at this length; no escape sequence that means anything is as long. Units: characters. */
const lineLengthMax = 64 * 1024
// Goes to another row or to the start of this one. Source: ECMA-48, CUP, CUU, CUD, CNL, CPL, CHA, VPA, HVP.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const moves = /\r\n?|\u001b\[[0-9;]*[ABEFGHdf]/g

export class HarmlessLines {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''
  #isBlank = true

  /** The lines that are whole now; of blank ones in a row the first. */
  add(bytes: Buffer): readonly string[] {
    const text = this.#rest + this.#decoder.write(bytes)
    const end = lastEnd(text)
    this.#rest = end === 0 && text.length < lineLengthMax ? text : text.slice(end)
    if (this.#rest.length >= lineLengthMax) {
      this.#rest = ''
      return this.#clean(text)
    }
    return this.#clean(text.slice(0, end))
  }

  /** What is left when nothing more comes. */
  end(): readonly string[] {
    const text = this.#rest + this.#decoder.end()
    this.#rest = ''
    return this.#clean(text).filter((line) => line !== '')
  }

  #clean(text: string): readonly string[] {
    if (text === '') return []
    const lines = cleanText(text.replace(moves, '\n')).replace(/\n$/, '').split('\n')
    return lines.flatMap((line) => {
      const trimmed = line.trimEnd()
      const isKept = trimmed !== '' || !this.#isBlank
      this.#isBlank = trimmed === ''
      return isKept ? [trimmed] : []
    })
  }
}

/** Behind the last end of a line. A sequence that is cut in two has none behind it. */
function lastEnd(text: string): number {
  return Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r', text.length - 2)) + 1
}
