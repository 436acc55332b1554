import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sanitizePaste } from './paste-text.ts'

describe('text for a paste', () => {
  test.each([
    ['plain\n\ttext é🙂漢', 'plain\n\ttext é🙂漢'],
    ['a\r\nb\rc', 'a\nb\nc'],
    ['\x1b[201~x', '[201~x'],
    ['\x9b201~x', '201~x'],
    ['\x00\x03\x7f', ''],
  ])('%j becomes %j', (text, wanted) => {
    expect(sanitizePaste(text)).toBe(wanted)
  })

  test('no text leaves a control character but newline and tab, and cleaning again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const clean = sanitizePaste(text)
        // eslint-disable-next-line no-control-regex
        expect(clean).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
        expect(sanitizePaste(clean)).toBe(clean)
      }),
    )
  })
})
