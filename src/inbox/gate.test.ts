import { expect, test } from 'vitest'
import { type StatusReason, statuses } from '../domain/status.ts'
import { decideGate, rateLimitHoldMs } from './gate.ts'

const gateOf = (status: (typeof statuses)[number], reason: StatusReason, ageMs = 0) =>
  decideGate({ status, reason, detail: undefined, sinceMs: 1_000 }, 1_000 + ageMs).kind

test('a message may be typed only to an agent at rest', () => {
  expect(Object.fromEntries(statuses.map((status) => [status, gateOf(status, 'ready')]))).toEqual({
    unknown: 'held',
    idle: 'open',
    processing: 'held',
    completed: 'open',
    waiting_user_answer: 'held',
    error: 'open',
  })
})

test('whatever the agent is busy with or asks, the message waits', () => {
  for (const reason of ['turn', 'background', 'retrying', 'hung'] as const)
    expect(gateOf('processing', reason)).toBe('held')
  for (const reason of ['permission', 'question', 'trust', 'login', 'update'] as const) {
    expect(gateOf('waiting_user_answer', reason)).toBe('held')
  }
  for (const reason of ['starting', 'backend_silent'] as const) expect(gateOf('unknown', reason)).toBe('held')
  for (const reason of ['ready', 'interrupted'] as const) expect(gateOf('idle', reason)).toBe('open')
})

test('an ended agent ends the wait, a rate limit holds it for a while, an API error lets the next message try', () => {
  expect(gateOf('error', 'exited')).toBe('ended')
  expect(gateOf('completed', 'exited')).toBe('ended')
  expect(gateOf('error', 'lost')).toBe('ended')
  expect(gateOf('error', 'rate_limited')).toBe('held')
  expect(gateOf('error', 'rate_limited', rateLimitHoldMs)).toBe('open')
  expect(gateOf('error', 'api_error')).toBe('open')
})

test('a rate limit whose end the CLI tells holds until then, and says so', () => {
  const gate = (nowMs: number) =>
    decideGate({ status: 'error', reason: 'rate_limited', detail: 'try again in 2h', sinceMs: 0 }, nowMs)
  expect(gate(7_199_999)).toEqual({
    kind: 'held',
    why: 'rate limited (try again in 2h): tried again at 1970-01-01T02:00:00.000Z',
  })
  expect(gate(7_200_000).kind).toBe('open')
})
