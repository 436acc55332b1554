import { describe, expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import type { ControlBlock } from './control-parser.ts'
import { ReplyQueue } from './reply-queue.ts'
import { type RunOutcome, replyText } from './runner.ts'

const block = (text: string, more: Partial<ControlBlock> = {}): ControlBlock => ({
  kind: 'block',
  number: 1,
  flags: 1,
  ok: true,
  lines: text === '' ? [] : [Buffer.from(text)],
  ...more,
})
const request = (more: { replies?: number; sentinel?: string; timeoutMs?: number } = {}) => ({
  replies: 1,
  sentinel: undefined,
  timeoutMs: 1_000,
  what: 'x',
  ...more,
})
const texts = (outcome: RunOutcome) => (outcome.kind === 'replied' ? outcome.replies.map(replyText) : outcome.kind)

describe('the reply queue', () => {
  test('blocks of the attach and of hooks go to nobody', async () => {
    const queue = new ReplyQueue(new ManualClock())
    const answer = queue.expect(request())
    expect(queue.accept(block('hook', { flags: 0 }))).toBe(false)
    expect(queue.accept(block('mine'))).toBe(true)
    expect(texts(await answer)).toEqual(['mine'])
  })

  test('a sequence ends with its last reply or its first error', async () => {
    const queue = new ReplyQueue(new ManualClock())
    const [whole, broken, next] = [
      queue.expect(request({ replies: 2 })),
      queue.expect(request({ replies: 3 })),
      queue.expect(request()),
    ]
    for (const each of [block('1'), block('2'), block('bad', { ok: false }), block('n')]) queue.accept(each)
    expect(texts(await whole)).toEqual(['1', '2'])
    expect(texts(await broken)).toEqual(['bad'])
    expect(texts(await next)).toEqual(['n'])
  })

  test('a sentinel closes any number of replies, errors among them', async () => {
    const queue = new ReplyQueue(new ManualClock())
    const answer = queue.expect(request({ replies: 0, sentinel: 'end-1' }))
    for (const each of [block(''), block('bad', { ok: false }), block('end-1')]) queue.accept(each)
    expect(texts(await answer)).toEqual(['', 'bad'])
  })

  test('a reply that comes after the deadline does not reach the next caller', async () => {
    const clock = new ManualClock()
    const queue = new ReplyQueue(clock)
    const slow = queue.expect(request({ timeoutMs: 100 }))
    const slowSequence = queue.expect(request({ replies: 0, sentinel: 'end-1', timeoutMs: 100 }))
    const next = queue.expect(request())
    await clock.advance(100)
    expect(await slow).toEqual({ kind: 'timed-out', waitedMs: 100, what: 'x' })
    expect(texts(await slowSequence)).toBe('timed-out')
    expect(queue.length).toBe(3)
    for (const each of [block('late'), block('late too'), block('end-1'), block('for next')]) queue.accept(each)
    expect(texts(await next)).toEqual(['for next'])
    expect([queue.length, clock.timerCount]).toEqual([0, 0])
  })

  test('closing ends every wait with the first reason, later ones too, and leaves no timer', async () => {
    const clock = new ManualClock()
    const queue = new ReplyQueue(clock)
    const waiting = queue.expect(request())
    queue.close({ kind: 'lost', detail: 'first' })
    queue.close({ kind: 'closed', detail: 'second' })
    const closed = { kind: 'closed', reason: { kind: 'lost', detail: 'first' } }
    expect([await waiting, await queue.expect(request())]).toEqual([closed, closed])
    expect(clock.timerCount).toBe(0)
  })
})
