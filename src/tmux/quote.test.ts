import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeFormat, escapeFormatAndTime, quote } from './quote.ts'

describe('quoting for the command parser', () => {
  test.each([
    ['plain', 'plain'],
    ['%12', '%12'],
    ['', "''"],
    ['a b', "'a b'"],
    ["it's", `'it'\\''s'`],
    ['a;', "'a;'"],
    ['$HOME ~ #{pid}', "'$HOME ~ #{pid}'"],
    ['a\nb', '"a\\012b"'],
    ['end\\', "'end\\'"],
    ['é 🙂', "'é 🙂'"],
  ])('%j is written %s', (value, written) => {
    expect(quote(value)).toBe(written)
  })

  test('a word never holds a newline, and bytes give pure ASCII', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0')),
        (value) => {
          expect(quote(value)).not.toMatch(/[\n\r]/)
          // eslint-disable-next-line no-control-regex
          expect(quote(Buffer.from(value))).toMatch(/^"[\x20-\x7e]*"$/)
        },
      ),
    )
  })

  test('a NUL byte is refused, since it would cut the argument', () => {
    expect(() => quote('a\0b')).toThrow('NUL')
    expect(() => quote(Uint8Array.of(1, 0))).toThrow('NUL')
  })
})

describe('escaping for format expansion', () => {
  test.each([
    ['#(touch x)', '##(touch x)'],
    ['a#{pid}b##', 'a##{pid}b####'],
    ['#[fg=red]#S', '#[fg=red]##S'],
    ['100%', '100%'],
  ])('%j is written %j', (value, written) => {
    expect(escapeFormat(value)).toBe(written)
  })

  test('where strftime runs too, % is doubled', () => {
    expect(escapeFormatAndTime('%Y #S')).toBe('%%Y ##S')
  })
})
