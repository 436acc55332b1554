import { expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import { type TerminalId, trustId } from '../domain/ids.ts'
import { bucketsMax, RateLimiter, rateLimits } from './rate-limit.ts'

const own = 'refused tcp'

test('as many as the burst come through at once, then as many as the rate', async () => {
  const clock = new ManualClock()
  const limiter = new RateLimiter(clock)
  const { burst, perSecond } = rateLimits.refused
  const taken = Array.from({ length: burst + 2 }, () => limiter.take(own))
  expect(taken.slice(0, burst).every(({ waitMs }) => waitMs === 0)).toBe(true)
  expect(taken.slice(burst)).toEqual([
    { waitMs: 1_000 / perSecond, isNew: true },
    { waitMs: 1_000 / perSecond, isNew: false },
  ])
  await clock.advance(1_000)
  const later = Array.from({ length: perSecond + 1 }, () => limiter.take(own).waitMs === 0)
  expect(later).toEqual([...Array.from({ length: perSecond }, () => true), false])
})

test('one actor takes nothing from another', () => {
  const limiter = new RateLimiter(new ManualClock())
  for (let i = 0; i < rateLimits.refused.burst; i++) limiter.take(own)
  expect([
    limiter.take(own).waitMs > 0,
    limiter.take('refused unix').waitMs,
    limiter.take('people tcp').waitMs,
  ]).toEqual([true, 0, 0])
})

test('rest does not save up more than one burst', async () => {
  const clock = new ManualClock()
  const limiter = new RateLimiter(clock)
  limiter.take(own)
  await clock.advance(3_600_000)
  const taken = Array.from({ length: rateLimits.refused.burst + 1 }, () => limiter.take(own).waitMs === 0)
  expect(taken.filter(Boolean)).toHaveLength(rateLimits.refused.burst)
})

test('more actors than are kept make it forget the one that was longest silent, and nothing else', () => {
  const limiter = new RateLimiter(new ManualClock())
  for (let i = 0; i < rateLimits.refused.burst; i++) limiter.take(own)
  for (let i = 0; i < bucketsMax - 1; i++) {
    limiter.take(`agentReads ${trustId<TerminalId>(i.toString(16).padStart(8, '0'))}`)
  }
  expect(limiter.take(own).waitMs).toBeGreaterThan(0)
})
