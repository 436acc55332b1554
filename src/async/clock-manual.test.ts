import { expect, test } from 'vitest'
import { ManualClock } from './clock-manual.ts'
import { sleep } from './wait.ts'

test('runs what falls due on the way, in order of time, then of setting', async () => {
  const clock = new ManualClock(1_000)
  const ran: string[] = []
  clock.after(30, () => ran.push(`c at ${clock.nowMs()}`))
  clock.after(10, () => ran.push(`a at ${clock.nowMs()}`))
  clock.after(10, () => ran.push(`b at ${clock.nowMs()}`))
  clock.after(31, () => ran.push('too late'))
  await clock.advance(30)
  expect(ran).toEqual(['a at 1010', 'b at 1010', 'c at 1030'])
  expect([clock.nowMs(), clock.timerCount]).toEqual([1_030, 1])
})

test('runs timers that were set on the way', async () => {
  const clock = new ManualClock(0)
  const ran: number[] = []
  const tick = () => {
    ran.push(clock.nowMs())
    clock.after(10, tick)
  }
  clock.after(10, tick)
  await clock.advance(35)
  expect(ran).toEqual([10, 20, 30])
})

test('a loop of awaits goes through all its sleeps in one advance, from its first', async () => {
  const clock = new ManualClock(0)
  const woke: number[] = []
  const loop = async () => {
    await Promise.resolve()
    for (let i = 0; i < 3; i++) {
      await sleep(clock, 10)
      woke.push(clock.nowMs())
    }
  }
  const running = loop()
  await clock.advance(30)
  await running
  expect(woke).toEqual([10, 20, 30])
})

test('a disposed timer does not run', async () => {
  const clock = new ManualClock()
  const timer = clock.after(10, () => expect.unreachable())
  timer[Symbol.dispose]()
  timer[Symbol.dispose]()
  await clock.advance(100)
  expect(clock.timerCount).toBe(0)
})
