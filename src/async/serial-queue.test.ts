import { expect, test } from 'vitest'
import { QueueFullError, SerialQueue } from './serial-queue.ts'
import { createDeferred } from './wait.ts'

test('runs one task at a time, in order', async () => {
  const queue = new SerialQueue('keyboard', 10)
  const gates = [createDeferred<void>(), createDeferred<void>()]
  const log: string[] = []
  const runs = gates.map((gate, i) =>
    queue.run(async () => {
      log.push(`begin ${i}`)
      await gate.promise
      log.push(`end ${i}`)
      return i
    }),
  )
  gates[1]?.resolve()
  await Promise.resolve()
  await Promise.resolve()
  expect(log).toEqual(['begin 0'])
  gates[0]?.resolve()
  expect(await Promise.all(runs)).toEqual([0, 1])
  expect(log).toEqual(['begin 0', 'end 0', 'begin 1', 'end 1'])
})

test('a task that fails, at once or later, is its caller’s alone', async () => {
  const queue = new SerialQueue('keyboard', 10)
  const late = queue.run(async () => {
    await Promise.resolve()
    throw new Error('late')
  })
  const atOnce = queue.run(() => {
    throw new Error('at once')
  })
  const fine = queue.run(async () => await Promise.resolve('fine'))
  await expect(late).rejects.toThrow('late')
  await expect(atOnce).rejects.toThrow('at once')
  expect(await fine).toBe('fine')
})

test('refuses at once what exceeds its limit, by name, and takes more when there is room again', async () => {
  const queue = new SerialQueue('keyboard of abcd1234', 2)
  const gate = createDeferred<void>()
  const runs = [queue.run(() => gate.promise), queue.run(() => gate.promise)]
  const refused = queue.run(() => expect.unreachable())
  await expect(refused).rejects.toThrow(QueueFullError)
  await expect(refused).rejects.toThrow('keyboard of abcd1234: 2 tasks wait already')
  gate.resolve()
  await Promise.all(runs)
  expect(queue.length).toBe(0)
  expect(await queue.run(() => Promise.resolve('again'))).toBe('again')
})

test('is never full for one who waits for each task', async () => {
  const queue = new SerialQueue('keyboard', 1)
  for (let i = 0; i < 5; i++) {
    expect(await queue.run(() => Promise.resolve(i))).toBe(i)
    await expect(queue.run(() => Promise.reject(new Error('x')))).rejects.toThrow('x')
  }
})

test('is idle when all that was queued has ended, also by failing', async () => {
  const queue = new SerialQueue('keyboard', 10)
  const log: string[] = []
  const failing = queue.run(() => Promise.reject(new Error('x')))
  const last = queue.run(async () => {
    await Promise.resolve()
    log.push('last')
  })
  await queue.idle()
  expect(log).toEqual(['last'])
  await expect(failing).rejects.toThrow('x')
  await last
})
