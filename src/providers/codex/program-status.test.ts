import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findSessionId, MarkScanner, type ProgramMark } from './program-status.ts'

const id = '01a22f28-ada2-79c0-a82d-6c49ec2d8cd9'
const cut = id.slice(0, 29)
const state = (name: string, more = '') => `\u001b]7501;state=${name}:app=codex${more}\u001b\\`
const title = (text: string) => `\u001b]0;${text}\u0007`
const feed = (...parts: readonly string[]): readonly ProgramMark[] => {
  const scanner = new MarkScanner()
  return parts.flatMap((part) => scanner.feed(Buffer.from(part)))
}

describe('MarkScanner', () => {
  const printed = [
    `text\u001b[1m${title('proj')}${state('idle')}`,
    `${title(`⠙ Do it | proj | ${cut}...`)}more${state('working')}${title(`⠹ Do it | proj | ${cut}...`)}`,
    `${state('blocked', ':kind=permission')}${state('working')}${state('done')}\u001b]8;;http://x\u001b\\`,
  ].join('words')
  const marks: readonly ProgramMark[] = [
    { kind: 'state', state: 'idle' },
    { kind: 'conversation', sessionId: cut },
    { kind: 'state', state: 'working' },
    { kind: 'state', state: 'blocked' },
    { kind: 'state', state: 'working' },
    { kind: 'state', state: 'done' },
  ]

  it('reads states in order, and the conversation when it is another one', () => {
    expect(feed(printed)).toEqual(marks)
  })

  it('reads the same however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(printed.length), { maxLength: 12 }), (places) => {
        const cuts = [0, ...places.toSorted((a, b) => a - b), printed.length]
        const parts = cuts.slice(1).map((end, at) => printed.slice(cuts[at], end))
        expect(feed(...parts)).toEqual(marks)
      }),
    )
  })

  it.each([
    ['of another program', '\u001b]7501;state=working:app=claude\u001b\\'],
    ['of an unknown state', state('dancing')],
    ['that never ends', `\u001b]7501;state=working:app=codex${'x'.repeat(5_000)}`],
  ])('passes over a mark %s', (_, text) => {
    expect(feed(text, state('done'))).toEqual([{ kind: 'state', state: 'done' }])
  })
})

it.each([
  [`${id} | proj | ${cut}...`, cut],
  [`⠙ a | b | proj | ${id}`, id],
  [id, id],
  [`${id} | proj`, undefined],
  ['scripted | proj', undefined],
  ['', undefined],
])('of the title "%s" the conversation is %s', (text, sessionId) => {
  expect(findSessionId(text)).toBe(sessionId)
})
