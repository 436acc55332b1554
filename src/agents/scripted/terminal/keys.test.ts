import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyDecoder, type KeyEvent } from './keys.ts'

function decode(...chunks: readonly (string | Uint8Array)[]): readonly KeyEvent[] {
  const decoder = new KeyDecoder()
  const events = chunks.flatMap((chunk) => decoder.push(Buffer.from(chunk as string)))
  return joinTexts([...events, ...decoder.flush()])
}

/** How text is cut into events depends on how it arrives; what it says does not. */
function joinTexts(events: readonly KeyEvent[]): readonly KeyEvent[] {
  const joined: KeyEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (event.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = { ...last, text: last.text + event.text }
    else joined.push(event)
  }
  return joined
}

describe('KeyDecoder', () => {
  test('tells text, control keys and arrows apart', () => {
    expect(decode('hi\r\x03\x15\x1b[A\x1bOB\x7f\t\n')).toEqual([
      { kind: 'text', text: 'hi' },
      ...['enter', 'C-c', 'C-u', 'up', 'down', 'backspace', 'tab', 'newline'].map((name) => ({ kind: 'key', name })),
    ])
  })

  test('a paste is one event, line ends and escapes included', () => {
    expect(decode('a\x1b[200~one\r\ntwo\x1b[A\x03\x1b[201~b')).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'paste', text: 'one\r\ntwo\x1b[A\x03' },
      { kind: 'text', text: 'b' },
    ])
  })

  test('a lone Escape is the key, also twice, and before text', () => {
    const escape = { kind: 'key', name: 'escape' }
    expect(decode('\x1b')).toEqual([escape])
    expect(decode('\x1b\x1b')).toEqual([escape, escape])
    expect(decode('\x1bx')).toEqual([escape, { kind: 'text', text: 'x' }])
  })

  test('unknown sequences are swallowed whole', () => {
    expect(decode('\x1b[1;5C\x1b[?1;2c\x1b[15~x')).toEqual([
      { kind: 'key', name: 'right' },
      { kind: 'text', text: 'x' },
    ])
  })

  test('how the bytes are cut into reads changes nothing', () => {
    const piece = fc.oneof(
      fc.constantFrom('\r', '\x1b[A', '\x1b[200~', '\x1b[201~', '\x1b[200~a\nb\x1b[201~', '你好 😀', '\x03', 'text'),
      fc.string({ unit: 'grapheme' }),
    )
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(40)), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''))
        const chunks: Uint8Array[] = []
        let at = 0
        for (const cut of cuts) {
          chunks.push(bytes.subarray(at, at + cut))
          at += cut
        }
        expect(decode(...chunks, bytes.subarray(at))).toEqual(decode(bytes))
      }),
    )
  })
})
