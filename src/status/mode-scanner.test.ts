import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findBracketed, ModeScanner } from './mode-scanner.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

test('knows bracketed paste from set, reset and full reset, alone or among other modes', () => {
  const scanner = new ModeScanner()
  scanner.feed(bytes('hello \u001b[?2004h'))
  expect(scanner.isBracketed).toBe(true)
  scanner.feed(bytes('\u001b[?2004l'))
  expect(scanner.isBracketed).toBe(false)
  scanner.feed(bytes('\u001b[?1049;2004;25h'))
  expect(scanner.isBracketed).toBe(true)
  scanner.feed(bytes('\u001bc'))
  expect(scanner.isBracketed).toBe(false)
})

const piece = fc.constantFrom(
  '\u001b[?2004h',
  '\u001b[?2004l',
  '\u001b[?25h',
  'text',
  '2004h',
  '\u001b',
  '[?',
  '\u001b[31m',
)

test('any split of the same bytes gives the same mode', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(200), { maxLength: 20 }), (pieces, cuts) => {
      const whole = bytes(pieces.join(''))
      const once = new ModeScanner()
      once.feed(whole)
      const split = new ModeScanner()
      const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).toSorted((a, b) => a - b), whole.length]
      for (let i = 1; i < places.length; i++) split.feed(whole.subarray(places[i - 1], places[i]))
      expect(split.isBracketed).toBe(once.isBracketed)
    }),
  )
})

test('finds the last word in a long log without reading it all', async () => {
  const log = Buffer.concat([
    Buffer.from('\u001b[?2004l'),
    Buffer.alloc(3_000_000, 'x'),
    Buffer.from('\u001b[?2004h'),
    Buffer.alloc(10, 'y'),
  ])
  let readBytes = 0
  const read = (offset: number, length: number) => {
    const part = log.subarray(offset, offset + length)
    readBytes += part.length
    return Promise.resolve(new Uint8Array(part))
  }
  expect(await findBracketed(read, log.length)).toBe(true)
  expect(readBytes).toBeLessThan(1_500_000)
  expect(await findBracketed(read, 0)).toBe(false)
})
