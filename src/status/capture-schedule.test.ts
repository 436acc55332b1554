import { expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import { CaptureSchedule, intervalMs, settleLooksMs } from './capture-schedule.ts'

function start(look: (count: number) => 'changed' | 'same') {
  const clock = new ManualClock()
  const startMs = clock.monotonicMs()
  const looksAtMs: number[] = []
  const schedule = new CaptureSchedule({
    clock,
    look: () => {
      looksAtMs.push(clock.monotonicMs() - startMs)
      return Promise.resolve(look(looksAtMs.length))
    },
    onError: (error) => {
      throw error
    },
  })
  return { clock, schedule, looksAtMs }
}

test('looks at once at the first byte, then settles in a bounded run when the screen keeps changing', async () => {
  const { clock, schedule, looksAtMs } = start(() => 'changed')
  schedule.nudge()
  await clock.advance(10_000)
  expect(looksAtMs).toHaveLength(1 + settleLooksMs.length)
  expect(looksAtMs[0]).toBe(0)
  expect(looksAtMs.at(-1)).toBe(settleLooksMs.at(-1))
})

test('stops early once two looks are alike, and never looks at an idle terminal', async () => {
  const { clock, schedule, looksAtMs } = start((count) => (count >= 2 ? 'same' : 'changed'))
  schedule.nudge()
  await clock.advance(60_000)
  expect(looksAtMs).toEqual([0, intervalMs])
})

test('a steady flow of output costs at most one look per interval', async () => {
  const { clock, schedule, looksAtMs } = start(() => 'changed')
  for (let i = 0; i < 100; i++) {
    schedule.nudge()
    await clock.advance(20)
  }
  const gaps = looksAtMs.slice(1).map((at, index) => at - (looksAtMs[index] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(intervalMs)
  expect(looksAtMs.length).toBeGreaterThanOrEqual(9)
})

test('output during a look is looked at again', async () => {
  const clock = new ManualClock()
  let looks = 0
  const schedule: CaptureSchedule = new CaptureSchedule({
    clock,
    look: () => {
      looks++
      if (looks === 1) schedule.nudge()
      return Promise.resolve('same')
    },
    onError: (error) => {
      throw error
    },
  })
  schedule.nudge()
  await clock.advance(5_000)
  expect(looks).toBeGreaterThanOrEqual(2)
  schedule[Symbol.dispose]()
  expect(clock.timerCount).toBe(0)
})
