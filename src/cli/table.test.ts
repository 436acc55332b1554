import { describe, expect, test } from 'vitest'
import { formatFacts, formatTable } from './table.ts'
import { cutToWidth, textWidth } from './text-width.ts'

describe('textWidth', () => {
  test.each([
    ['abc', 3],
    ['漢字', 4],
    ['é', 1],
    ['👍🏽', 2],
    ['❤️', 2],
    ['👩‍👩‍👧', 2],
    ['한국', 4],
    ['│─', 2],
  ])('%s takes its columns', (text, width) => {
    expect(textWidth(text)).toBe(width)
  })

  test('what is cut fits, and never ends in half a character', () => {
    expect([
      cutToWidth('漢字漢字', 5),
      cutToWidth('漢字漢字', 8),
      cutToWidth('abcdef', 4),
      cutToWidth('abc', 0),
    ]).toEqual(['漢字…', '漢字漢字', 'abc…', ''])
  })
})

describe('formatTable', () => {
  const columns = [
    { title: 'NAME', text: (row: readonly string[]) => row[0] ?? '', widthMax: 6 },
    { title: 'N', text: (row: readonly string[]) => row[1] ?? '', align: 'right' as const },
    { title: 'WHY', text: (row: readonly string[]) => row[2] ?? '' },
  ]

  test('aligns what it shows and cleans what came from outside', () => {
    const rows = [
      ['漢字', '1', '\u001b[31mred\u001b[0m'],
      ['long-name', '100', ''],
    ]
    expect(formatTable(columns, rows).split('\n')).toEqual(['NAME      N  WHY', '漢字      1  red', 'long-…  100  -'])
  })

  test('cuts lines to the width of the screen', () => {
    expect(formatTable(columns, [['a', '1', 'a reason']], 12).split('\n')[1]).toBe('a     1  a …')
  })

  test('facts stand below one another', () => {
    expect(
      formatFacts([
        ['a', '1'],
        ['long', '2'],
      ]),
    ).toBe('a     1\nlong  2')
  })
})
