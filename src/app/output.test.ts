import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endAtCharacter } from './output.ts'

const encode = (text: string) => new TextEncoder().encode(text)

test('slices of a log, one after the other, make the same text, however short they are', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 }).filter((each) => each.isWellFormed())
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 12 }), (said, lengthMax) => {
      const log = encode(said)
      let read = ''
      for (let offset = 0; offset < log.length; ) {
        const slice = endAtCharacter(log.subarray(offset, offset + lengthMax), lengthMax)
        expect(slice.length).toBeGreaterThan(0)
        read += Buffer.from(slice).toString('utf8')
        offset += slice.length
      }
      expect(read).toBe(said)
    }),
  )
})

test('a character that has not been written whole is left for the next slice, and bytes that are none are given', () => {
  const half = encode('a─').subarray(0, 3)
  expect([...endAtCharacter(half, 100)]).toEqual([0x61])
  expect(endAtCharacter(half.subarray(1), 100)).toHaveLength(0)
  expect(endAtCharacter(half.subarray(1), 2)).toHaveLength(2)
  expect(endAtCharacter(Uint8Array.of(0x80, 0x81), 100)).toHaveLength(2)
  expect(endAtCharacter(new Uint8Array(), 100)).toHaveLength(0)
})
