import { expect, test } from 'vitest'
import type { DomainEvent } from '../domain/events.ts'
import type { TerminalId } from '../domain/ids.ts'
import { formatQuietHours, isQuiet, parseQuietHours } from '../domain/notice-kind.ts'
import { formatPayload, testPayload, toNotice } from './notice.ts'

const base = { seq: 7, atMs: 0, terminalId: 'aaaaaaaa' as TerminalId }
const evil = `\u001b]0;owned\u0007\u202e${'x'.repeat(900)}\r\nsecond\u009bline`

test('the news of an event is one clean line of bounded length', () => {
  const notice = toNotice({ ...base, type: 'question.opened', questionId: 'q-1' as never, text: evil, options: [evil] })
  for (const line of [notice?.text, notice?.options[0]]) {
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(line?.length).toBe(500)
  }
})

test.each([
  [{ type: 'terminal.status_changed', from: 'idle', to: 'processing', reason: 'hung' }, 'stuck'],
  [{ type: 'terminal.status_changed', from: 'idle', to: 'error', reason: 'rate_limited' }, 'stuck'],
  [{ type: 'terminal.status_changed', from: 'idle', to: 'processing', reason: 'turn' }, undefined],
  [{ type: 'terminal.life_changed', from: 'live', to: 'exited' }, 'ended'],
  [{ type: 'terminal.life_changed', from: 'live', to: 'lost' }, 'lost'],
  [{ type: 'terminal.life_changed', from: 'planned', to: 'live' }, undefined],
  [{ type: 'job.state_changed', from: 'running', to: 'answered' }, 'finished'],
  [{ type: 'job.state_changed', from: 'created', to: 'running' }, undefined],
  [{ type: 'worktree.kept', path: '/w', branch: 'b', detail: 'work', changedFiles: 1, commitsAhead: 0 }, 'worktree'],
  [{ type: 'notify.failed', channel: 'command', count: 1, detail: '' }, undefined],
] as const)('%o is news of the kind %s', (event, kind) => {
  expect(toNotice({ ...base, ...event } as unknown as DomainEvent)?.kind).toBe(kind)
})

test('a call of one says in its title who wants what; a test says that it is one', () => {
  const event = { ...base, type: 'terminal.life_changed', from: 'live', to: 'exited', detail: 'exit code 3' } as const
  const notice = toNotice(event)
  if (notice === undefined) throw new Error('no notice')
  const who = { sessionName: 'cao-x', profileName: 'developer' }
  expect(formatPayload({ notices: [{ ...notice, who }], type: 'notices', nowMs: 0, isGap: false })).toEqual({
    version: 1,
    id: '7-7',
    type: 'notices',
    at: '1970-01-01T00:00:00.000Z',
    title: 'CAO: developer aaaaaaaa has ended',
    text: 'developer aaaaaaaa has ended: exit code 3',
    notices: [
      {
        kind: 'ended',
        seq: 7,
        at: '1970-01-01T00:00:00.000Z',
        terminal_id: 'aaaaaaaa',
        session_name: 'cao-x',
        agent_profile: 'developer',
        question_id: null,
        options: [],
        text: 'exit code 3',
      },
    ],
    more: 0,
    gap: false,
  })
  expect(testPayload(0)).toMatchObject({ type: 'test', title: 'CAO: a test', notices: [] })
})

test('quiet hours go over midnight, begin with their first minute and end before their last', () => {
  const night = parseQuietHours('22:00-07:30')
  const noon = parseQuietHours('12:00-13:00')
  if (night === undefined || noon === undefined) throw new Error('not read')
  expect([1_319, 1_320, 0, 449, 450].map((minute) => isQuiet(night, minute))).toEqual([false, true, true, true, false])
  expect([719, 720, 779, 780].map((minute) => isQuiet(noon, minute))).toEqual([false, true, true, false])
  expect([formatQuietHours(night), formatQuietHours(noon)]).toEqual(['22:00-07:30', '12:00-13:00'])
  expect(['24:00-01:00', '8:00-9:00', '10:00-10:00', '10:00', ''].map(parseQuietHours)).toEqual(
    Array(5).fill(undefined),
  )
})
