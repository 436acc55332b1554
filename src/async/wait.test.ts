import { describe, expect, test } from 'vitest'
import { ManualClock } from './clock-manual.ts'
import { createDeferred, DeadlineError, deadlineSignal, sleep, withDeadline } from './wait.ts'

const settle = async <T>(promise: Promise<T>) => await promise.catch((error: unknown) => error)

describe('a sleep', () => {
  test('ends after its time and leaves no timer', async () => {
    const clock = new ManualClock(0)
    let isOver = false
    const sleeping = sleep(clock, 50).then(() => {
      isOver = true
    })
    await clock.advance(49)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await sleeping
    expect([isOver, clock.timerCount]).toEqual([true, 0])
  })

  test('that is aborted rejects with the reason and leaves no timer', async () => {
    const clock = new ManualClock()
    const controller = new AbortController()
    const outcome = settle(sleep(clock, 50, controller.signal))
    const reason = new Error('stop')
    controller.abort(reason)
    expect([await outcome, clock.timerCount]).toEqual([reason, 0])
  })

  test('of a signal that is aborted already does not begin', async () => {
    const clock = new ManualClock()
    const reason = new Error('stopped before')
    expect(await settle(sleep(clock, 50, AbortSignal.abort(reason)))).toBe(reason)
    expect(clock.timerCount).toBe(0)
  })

  test('that is over is not touched by a later abort', async () => {
    const clock = new ManualClock()
    const controller = new AbortController()
    const sleeping = sleep(clock, 10, controller.signal)
    await clock.advance(10)
    controller.abort(new Error('late'))
    expect(await settle(sleeping)).toBeUndefined()
  })
})

describe('a deadline', () => {
  test('passes a value or an error through and leaves no timer', async () => {
    const clock = new ManualClock()
    expect(await withDeadline(clock, Promise.resolve(7), 100, 'a number')).toBe(7)
    const error = new Error('its own')
    expect(await settle(withDeadline(clock, Promise.reject(error), 100, 'a number'))).toBe(error)
    expect(clock.timerCount).toBe(0)
  })

  test('that is reached names what it waited for', async () => {
    const clock = new ManualClock()
    const never = createDeferred<void>()
    const outcome = settle(withDeadline(clock, never.promise, 100, 'the agent to be ready'))
    await clock.advance(100)
    const error = await outcome
    expect(error).toBeInstanceOf(DeadlineError)
    expect(error).toMatchObject({
      message: 'gave up after 100 ms waiting for the agent to be ready',
      what: 'the agent to be ready',
      afterMs: 100,
    })
  })

  test('that was reached is not harmed by a late failure of the work', async () => {
    const clock = new ManualClock()
    const work = createDeferred<void>()
    const outcome = settle(withDeadline(clock, work.promise, 10, 'work'))
    await clock.advance(10)
    work.reject(new Error('late'))
    expect(await outcome).toBeInstanceOf(DeadlineError)
  })
})

describe('a signal with a deadline', () => {
  test('aborts with a DeadlineError when the time is over', async () => {
    const clock = new ManualClock()
    using deadline = deadlineSignal(clock, 20, 'a capture')
    await clock.advance(19)
    expect(deadline.signal.aborted).toBe(false)
    await clock.advance(1)
    expect(deadline.signal.reason).toEqual(new DeadlineError('a capture', 20))
  })

  test('aborts with its parent, for the reason of the parent', () => {
    const parent = new AbortController()
    using deadline = deadlineSignal(new ManualClock(), 20, 'a capture', parent.signal)
    const reason = new Error('closing')
    parent.abort(reason)
    expect(deadline.signal.reason).toBe(reason)
  })

  test('that is disposed leaves no timer and never aborts', async () => {
    const clock = new ManualClock()
    const deadline = deadlineSignal(clock, 20, 'a capture')
    deadline[Symbol.dispose]()
    await clock.advance(100)
    expect([deadline.signal.aborted, clock.timerCount]).toEqual([false, 0])
  })
})

test('a deferred keeps its first settlement', async () => {
  const deferred = createDeferred<number>()
  deferred.resolve(1)
  deferred.resolve(2)
  deferred.reject(new Error('late'))
  expect(await deferred.promise).toBe(1)
})
