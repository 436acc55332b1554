import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSameInput, ownerOfDraft, sanitizeTyped } from './typed-text.ts'

test('control characters go, newline and tab stay, every line end becomes a newline', () => {
  expect(sanitizeTyped('a\r\nb\rc\td\u001b[201~e\u0000\u007f\u009b')).toBe('a\nb\nc\td[201~e')
})

test('text without control characters is typed as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const typed = sanitizeTyped(text)
      // oxlint-disable-next-line no-control-regex
      expect(typed).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
      if (!/[\p{Cc}]/u.test(text)) expect(typed).toBe(text)
      expect(sanitizeTyped(typed)).toBe(typed)
    }),
  )
})

test.each([
  ['empty', { kind: 'empty' } as const, 'hello there', 'empty'],
  ['absent', { kind: 'absent' } as const, 'hello there', 'absent'],
  ['the whole, wrapped', { kind: 'draft', text: 'hello\nthere' } as const, 'hello there', 'ours'],
  [
    'the visible end of a long text',
    { kind: 'draft', text: 'lines of it' } as const,
    `${'x '.repeat(500)} lines of it`,
    'ours',
  ],
  ['ours with more behind it', { kind: 'draft', text: 'hello there and more' } as const, 'hello there', 'foreign'],
  ['a short common part proves nothing', { kind: 'draft', text: 'he' } as const, 'hello there', 'foreign'],
  ['a short text that is whole', { kind: 'draft', text: 'y' } as const, 'y', 'ours'],
  [
    'a collapsed paste of our length',
    { kind: 'collapsed', lines: 40, chars: undefined } as const,
    'x\n'.repeat(39).concat('x'),
    'ours',
  ],
  [
    'a collapsed paste of another length',
    { kind: 'collapsed', lines: 7, chars: undefined } as const,
    'x\n'.repeat(39),
    'foreign',
  ],
])('a composer with %s', (_name, composer, typed, owner) => {
  expect(ownerOfDraft(composer, typed)).toBe(owner)
})

test('raw input is the same but for outer blanks and line ends', () => {
  expect(isSameInput('a\r\nb ', 'a\nb')).toBe(true)
  expect(isSameInput('a b', 'a  b')).toBe(false)
})
