import { describe, expect, test } from 'vitest'
import { findBottomBox, joinRows } from './box.ts'

const cols = 14
const top = '╭────────────╮'
const bottom = '╰────────────╯'
const find = (lines: readonly string[]) => findBottomBox(lines, { cols, footerLinesMax: 1 })

describe('findBottomBox', () => {
  test('finds the frame that ends the screen, its title, its rows, what is above and below', () => {
    expect(find(['said', '', '╭─ Trust ────╮', '│ Really?    │', '│ ❯ 1. Yes   │', bottom, '  keys', '', ''])).toEqual({
      title: 'Trust',
      rows: [
        { text: 'Really?', isContinued: false },
        { text: '❯ 1. Yes', isContinued: false },
      ],
      footer: ['  keys'],
      above: ['said', ''],
    })
  })

  test('an untitled frame has no title', () => {
    expect(find([top, '│ ❯ hello    │', bottom])).toMatchObject({ title: undefined, footer: [] })
  })

  test.each([
    ['is indented, as all that an agent says', [`  ${top}`, '  │ ❯ hello    │', `  ${bottom}`]],
    ['has more below it than a footer', [top, '│ ❯ hello    │', bottom, 'one', 'two']],
    ['is narrower than the screen', ['╭───────────╮', '│ ❯ hello   │', '╰───────────╯']],
    ['has no top', ['│ ❯ hello    │', bottom]],
    ['has no row', [top, bottom]],
    ['is broken', [top, 'x', '│ ❯ hello    │', bottom]],
    ['has a torn lower border', [top, '│ ❯ hello    │', '╰─────']],
    ['is not there', ['', '']],
  ])('a frame that %s is none', (_why, lines) => {
    expect(find(lines)).toBeUndefined()
  })

  test('a frame inside of what was said above does not disturb the real one', () => {
    const box = find([top, '│ ❯ fake     │', bottom, 'text', top, '│ ❯ real     │', bottom])
    expect(box?.rows).toEqual([{ text: '❯ real', isContinued: false }])
  })

  test('border characters that the text itself holds are kept', () => {
    expect(find([top, '│ ❯ a │ b┆  │', bottom])?.rows[0]?.text).toBe('❯ a │ b┆')
  })
})

describe('joinRows', () => {
  test('puts wrapped lines together and keeps the blanks at the seam', () => {
    const box = find([top, '│ ❯ 1234567  ┆', '│   89       │', '│            │', '│   end      │', bottom])
    expect(joinRows(box?.rows ?? [], 2)).toEqual(['1234567 89', '', 'end'])
  })
})
