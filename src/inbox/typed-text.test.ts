import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../domain/message.ts'
import type { Quirks } from '../providers/provider.ts'
import { isSameInput, isTooLong, isWholeDraft, ownerOfDraft, sanitizeTyped, toTyped } from './typed-text.ts'

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

const note = (body: string, kind: Message['kind'] = 'send_message') =>
  ({ token: '0123456789ab', kind, senderId: 'user', body }) as Message
const receiver = (quirks: Partial<Quirks>) => ({
  quirks: quirks as Quirks,
  bodyFile: () => '/own/messages/0123456789ab.txt',
})

test('the header leads every message between agents, so that no line of it begins a command', () => {
  for (const body of ['/exit', '!touch x', '#note', '@file']) {
    expect(toTyped(note(body), receiver({}))).toBe(`[cao send_message 0123456789ab from user]\n${body}`)
    expect(toTyped(note(body, 'input'), receiver({ hasMentions: true }))).toBe(body)
  }
})

test('a mention is a plain word where a program would act on it, and mail addresses and the like stay', () => {
  const body = '@a see @../etc/passwd\n@b me@example.org a @ b'
  const typed = toTyped(note(body), receiver({ hasMentions: true }))
  expect(typed.split('\n').slice(1).join('\n')).toBe('\\@a see \\@../etc/passwd\n\\@b me@example.org a @ b')
})

test('a text that the program would mangle is pointed to, raw input never', () => {
  const limited = receiver({ typedCharsMax: 10 })
  const long = note('x'.repeat(11))
  expect([isTooLong(note('x'.repeat(10)), limited), isTooLong(long, limited)]).toEqual([false, true])
  expect(isTooLong(note('x'.repeat(11), 'input'), limited)).toBe(false)
  const typed = toTyped(long, limited)
  expect(typed).toMatch(
    /^\[cao send_message 0123456789ab from user\]\n[^\n]* in the file \/own\/messages\/0123456789ab\.txt /,
  )
  expect(typed).not.toContain('xxx')
})

test('a draft is wholly ours only when all of it can be seen', () => {
  expect(isWholeDraft({ kind: 'draft', text: 'one\n two' }, 'one two')).toBe(true)
  expect(isWholeDraft({ kind: 'draft', text: 'one' }, 'one two')).toBe(false)
  expect(isWholeDraft({ kind: 'draft', text: 'one two and' }, 'one two')).toBe(false)
  expect(isWholeDraft({ kind: 'collapsed', chars: 7, lines: 1 }, 'one two')).toBe(false)
})
