import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanLine, cleanText } from './clean-text.ts'

describe('cleanText', () => {
  test.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a title', '\u001b]0;owned\u0007ok', 'ok'],
    ['a clipboard write that ends in ST', '\u001b]52;c;aGk=\u001b\\ok', 'ok'],
    ['a link', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['C1 controls', '\u009b31mred\u009d0;t\u009cok', 'redok'],
    ['an OSC without an end', '\u001b]0;half\nnext', '\nnext'],
    ['a charset switch and a reset', '\u001b(0a\u001bcb', 'ab'],
    ['a carriage return and a bell', 'a\rb\u0007', 'ab'],
    ['text that reads backwards', 'safe\u202Eexe.txt\u2066', 'safeexe.txt'],
    ['newlines and tabs, which stay', 'a\r\n\tb', 'a\n\tb'],
    ['emoji and CJK, which stay', '👍🏽 漢字 é', '👍🏽 漢字 é'],
  ])('takes out %s', (_what, text, clean) => {
    expect(cleanText(text)).toBe(clean)
  })

  test('leaves no control character in any text, and leaves clean text alone', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b', '\u001b[', '\u001b]', '\u0007', '\u009b'),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const clean = cleanText(pieces.join(''))
        expect(clean).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
        expect(cleanText(clean)).toBe(clean)
      }),
    )
  })
})

test('cleanLine gives one line', () => {
  expect(cleanLine('  a\n\n\tb \u001b[2Jc ')).toBe('a b c')
})
