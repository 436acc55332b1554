import { expect, test } from 'vitest'
import type { DomainEvent } from '../domain/events.ts'
import { trustId } from '../domain/ids.ts'
import { type EventBody, toEventBody } from './event.ts'

test('an event goes out with snake_case names, an ISO time and null for what is absent', () => {
  const event: DomainEvent = {
    type: 'terminal.status_changed',
    terminalId: trustId('12ab34cd'),
    from: 'idle',
    to: 'processing',
    reason: 'turn',
    detail: undefined,
    because: 'hook: a.json',
    seq: 7,
    atMs: 1_700_000_000_123,
  }
  expect(toEventBody(event)).toEqual({
    type: 'terminal.status_changed',
    terminal_id: '12ab34cd',
    from: 'idle',
    to: 'processing',
    reason: 'turn',
    detail: null,
    because: 'hook: a.json',
    seq: 7,
    at: '2023-11-14T22:13:20.123Z',
  })
})

test('the type of an event on the wire still tells its fields', () => {
  const read = (event: EventBody): string | null =>
    event.type === 'job.state_changed' ? event.worker_id : event.type === 'question.opened' ? event.question_id : ''
  const event: DomainEvent = {
    type: 'question.opened',
    questionId: trustId('q-00000001'),
    terminalId: trustId('12ab34cd'),
    text: 'Which?',
    options: ['a', 'b'],
    seq: 1,
    atMs: 0,
  }
  expect(read(toEventBody(event))).toBe('q-00000001')
})
