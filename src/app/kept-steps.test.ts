import { expect, test } from 'vitest'
import { ManualClock } from '../async/clock-manual.ts'
import { AppError } from '../domain/errors.ts'
import { silentLog } from '../lib/log.ts'
import { KeptSteps } from './kept-steps.ts'

test('while there is no room steps wait in their order, and are done once there is some', async () => {
  const clock = new ManualClock()
  using steps = new KeptSteps(clock, silentLog)
  const done: number[] = []
  let isFull = true
  const step = (id: number) => () => {
    if (isFull && id !== 3) throw new AppError('STORAGE_FULL', 'no room')
    done.push(id)
  }
  // The third would succeed, and must not overtake.
  for (const id of [1, 2, 3]) steps.run(step(id))
  await clock.advance(5_000)
  expect(done).toEqual([])
  isFull = false
  await clock.advance(600)
  steps.run(step(4))
  expect(done).toEqual([1, 2, 3, 4])
})

test('another fault is the caller’s, and of a step that waited it stops no other', async () => {
  const clock = new ManualClock()
  using steps = new KeptSteps(clock, silentLog)
  const fail = () => {
    throw new AppError('INTERNAL', 'broken')
  }
  expect(() => steps.run(fail)).toThrow('broken')
  let isFull = true
  const done: string[] = []
  steps.run(() => {
    if (isFull) throw new AppError('STORAGE_FULL', 'no room')
    fail()
  })
  steps.run(() => done.push('after'))
  isFull = false
  await clock.advance(600)
  expect(done).toEqual(['after'])
})
