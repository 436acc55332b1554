/**
 * Reading a paste buffer over a control connection. tmux 3.2a and 3.3a print it with backslashes,
 * control bytes and the $ of $name escaped, later ones raw; which it is gets asked once per connection, because
 * distributions patch. One newline too many ends the print in all of them.
 * Source: cmd-save-buffer.c (show-buffer), utf8.c (utf8_strvis), vis(3) with VIS_OCTAL | VIS_CSTYLE.
 */
import { quote } from './quote.ts'

export type BufferEncoding = 'raw' | 'escaped'

const probeName = 'cao-probe'
const probeValue = 'a\\b$c'

/** Three commands; the second reply is what `judgeBufferProbe` takes. */
export const bufferProbeLine = `set-buffer -b ${probeName} ${quote(probeValue)} ; show-buffer -b ${probeName} ; delete-buffer -b ${probeName}`

export function judgeBufferProbe(shown: string): BufferEncoding {
  return shown.replace(/\n$/, '') === probeValue ? 'raw' : 'escaped'
}

const letters: Readonly<Record<string, number>> = {
  a: 0x07,
  b: 0x08,
  t: 0x09,
  n: 0x0a,
  v: 0x0b,
  f: 0x0c,
  r: 0x0d,
  s: 0x20,
  '\\': 0x5c,
  // Written before a dollar sign that would begin a variable.
  $: 0x24,
}
const backslash = 0x5c

/** Undoes the escaping of one printed line; bytes that are no escape stay as they are. */
export function unescapeBufferLine(line: Uint8Array): Uint8Array {
  if (!line.includes(backslash)) return line
  const out = new Uint8Array(line.length)
  let length = 0
  for (let at = 0; at < line.length; at++) {
    const { value, taken } = line[at] === backslash ? readEscape(line, at) : { value: line[at] ?? 0, taken: 1 }
    out[length++] = value
    at += taken - 1
  }
  return out.subarray(0, length)
}

function readEscape(line: Uint8Array, at: number): { value: number; taken: number } {
  const digits = String.fromCharCode(...line.subarray(at + 1, at + 4))
  if (/^[0-3][0-7]{2}$/.test(digits)) return { value: Number.parseInt(digits, 8), taken: 4 }
  const value = letters[digits.charAt(0)]
  return value === undefined ? { value: backslash, taken: 1 } : { value, taken: 2 }
}

/** The lines of the buffer from the lines of the reply. */
export function decodeShownBuffer(lines: readonly Uint8Array[], encoding: BufferEncoding): Uint8Array[] {
  const last = lines.at(-1)
  const own = last !== undefined && last.length === 0 ? lines.slice(0, -1) : [...lines]
  return encoding === 'raw' ? own : own.map(unescapeBufferLine)
}
