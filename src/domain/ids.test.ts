import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  makeInstanceId,
  makeJobId,
  makeMessageToken,
  makeQuestionId,
  makeSessionName,
  makeTerminalId,
  parseJobId,
  parseQuestionId,
  parseSessionName,
  parseTerminalId,
} from './ids.ts'

const count = (digits: number): string => '0123456789abcdef'.repeat(2).slice(0, digits)

describe('ids', () => {
  test('are made in the shapes that outsiders see', () => {
    expect([
      makeTerminalId(count),
      makeMessageToken(count),
      makeJobId(count),
      makeQuestionId(count),
      makeInstanceId(count),
      makeSessionName(count),
    ]).toEqual(['01234567', '0123456789ab', 'job-0123456789abcdef', 'q-01234567', '0123456789abcdef', 'cao-01234567'])
  })

  test('that are made are accepted', () => {
    expect(parseTerminalId(makeTerminalId(count))).toBe('01234567')
    expect(parseJobId(makeJobId(count))).toBe('job-0123456789abcdef')
    expect(parseQuestionId(makeQuestionId(count))).toBe('q-01234567')
    expect(parseSessionName(makeSessionName(count))).toBe('cao-01234567')
  })

  test.each(['', '0123456', '012345678', '0123456G', '0123456A', '01234567\n', ' 01234567', '../01234'])(
    'of a terminal: %j is none',
    (text) => expect(parseTerminalId(text)).toBeUndefined(),
  )

  test.each(['job-0123456789abcde', 'q-0123456', 'job-0123456789ABCDEF', 'job-0123456789abcdef\n'])(
    'of a job or question: %j is none',
    (text) => expect([parseJobId(text), parseQuestionId(text)]).toEqual([undefined, undefined]),
  )
})

describe('a session name', () => {
  test.each([
    ['team', 'cao-team'],
    ['cao-team', 'cao-team'],
    ['My_Team-2', 'cao-My_Team-2'],
    ['x'.repeat(60), `cao-${'x'.repeat(60)}`],
  ])('of %s is %s', (text, name) => expect(parseSessionName(text)).toBe(name))

  test.each(['', 'cao-', 'a b', 'a.b', 'a:b', '=a', '@1', '$1', '%1', '#(touch x)', 'a\n', '\u00e9', '-'.repeat(61)])(
    'is none in %j',
    (text) => expect(parseSessionName(text)).toBeUndefined(),
  )

  test('that is accepted has nothing in it that tmux or a path would read as more than a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const name = parseSessionName(text)
        if (name !== undefined) expect(name).toMatch(/^cao-[A-Za-z0-9_-]{1,60}$/)
      }),
    )
  })

  test('is the same when it is parsed again', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{1,60}$/), (text) => {
        const name = parseSessionName(text)
        expect(name === undefined ? undefined : parseSessionName(name)).toBe(name)
      }),
    )
  })
})
