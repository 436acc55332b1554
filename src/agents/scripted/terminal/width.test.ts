import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutLine, makePaintable, textWidth, wrapLine } from './width.ts'

test('counts wide characters twice and marks not at all', () => {
  expect(['abc', '你好', '😀', 'e\u0301', ''].map(textWidth)).toEqual([3, 4, 2, 1, 0])
})

test('makes tabs blanks and control characters dots', () => {
  expect(makePaintable('a\tb\x1b[31m\x07')).toBe('a    b·[31m·')
})

test('rows hold the whole line, and none is too wide', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 30 }), (line, cols) => {
      const rows = wrapLine(line, cols)
      expect(rows.join('')).toBe(line)
      expect(rows.every((row) => textWidth(row) <= cols)).toBe(true)
    }),
  )
})

test('cuts with an ellipsis only what does not fit', () => {
  expect([cutLine('hello', 5), cutLine('hello!', 5), cutLine('你好你好', 5)]).toEqual(['hello', 'hell…', '你好…'])
})
