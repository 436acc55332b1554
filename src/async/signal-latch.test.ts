import { expect, test } from 'vitest'
import { ManualClock } from './clock-manual.ts'
import { SignalLatch } from './signal-latch.ts'

const never = new AbortController().signal

test('wakes the waiter when it is raised', async () => {
  const clock = new ManualClock()
  const latch = new SignalLatch()
  const waiting = latch.wait(clock, 1_000, never)
  latch.raise()
  expect(await waiting).toBe(true)
  expect(clock.timerCount).toBe(0)
})

test('remembers being raised while nobody waits, once', async () => {
  const clock = new ManualClock()
  const latch = new SignalLatch()
  latch.raise()
  latch.raise()
  expect(await latch.wait(clock, 1_000, never)).toBe(true)
  const second = latch.wait(clock, 1_000, never)
  await clock.advance(1_000)
  expect(await second).toBe(false)
})

test('ends the wait at its limit and when the signal aborts', async () => {
  const clock = new ManualClock()
  const latch = new SignalLatch()
  const limited = latch.wait(clock, 10, never)
  await clock.advance(10)
  expect(await limited).toBe(false)
  const controller = new AbortController()
  const aborted = latch.wait(clock, 1_000, controller.signal)
  controller.abort()
  expect(await aborted).toBe(false)
  expect(await latch.wait(clock, 1_000, AbortSignal.abort())).toBe(false)
  expect(clock.timerCount).toBe(0)
})

test('a raise after the wait ended is for the next wait', async () => {
  const clock = new ManualClock()
  const latch = new SignalLatch()
  const first = latch.wait(clock, 10, never)
  await clock.advance(10)
  latch.raise()
  expect([await first, await latch.wait(clock, 10, never)]).toEqual([false, true])
})

test('a second waiter is a bug that shows', () => {
  const latch = new SignalLatch()
  const clock = new ManualClock()
  void latch.wait(clock, 10, never)
  expect(() => latch.wait(clock, 10, never)).toThrow('a second waiter')
})
