import { expect, test } from 'vitest'
import { ManualClock } from './clock-manual.ts'
import { Scope } from './scope.ts'
import { createDeferred, DeadlineError, sleep } from './wait.ts'

function makeScope() {
  const clock = new ManualClock(0)
  const crashes: string[] = []
  const scope = new Scope(clock, (name, error) => crashes.push(`${name}: ${String(error)}`))
  return { clock, crashes, scope }
}

test('a loop runs until the close, which waits for its end', async () => {
  const { clock, crashes, scope } = makeScope()
  const log: string[] = []
  scope.spawn('loop', async (signal) => {
    try {
      for (;;) {
        await sleep(clock, 10, signal)
        log.push('tick')
      }
    } finally {
      log.push('cleaned up')
    }
  })
  await clock.advance(25)
  await scope[Symbol.asyncDispose]()
  expect([log, crashes]).toEqual([['tick', 'tick', 'cleaned up'], []])
})

test('a crash is reported with the name of the loop, and does not touch the others', async () => {
  const { clock, crashes, scope } = makeScope()
  let ticks = 0
  scope.spawn('bad', async () => {
    await sleep(clock, 5)
    throw new Error('broken')
  })
  scope.spawn('worse', () => {
    throw new Error('before its first wait')
  })
  scope.spawn('good', async (signal) => {
    await sleep(clock, 10, signal)
    ticks++
  })
  await clock.advance(10)
  expect([crashes, ticks]).toEqual([['worse: Error: before its first wait', 'bad: Error: broken'], 1])
  await scope[Symbol.asyncDispose]()
})

test('a loop that does not end is named when the close gives up', async () => {
  const { clock, scope } = makeScope()
  const stuck = createDeferred<void>()
  scope.spawn('stuck reader', () => stuck.promise)
  const closing = scope[Symbol.asyncDispose]().catch((error: unknown) => error)
  await clock.advance(Scope.closeLimitMs)
  const error = await closing
  expect(error).toBeInstanceOf(DeadlineError)
  expect(String(error)).toContain('loops to end: stuck reader')
  stuck.resolve()
})

test('nothing starts after the close, and closing twice is closing once', async () => {
  const { scope } = makeScope()
  await scope[Symbol.asyncDispose]()
  await scope[Symbol.asyncDispose]()
  scope.spawn('late', () => expect.unreachable())
  expect(scope.signal.aborted).toBe(true)
})
