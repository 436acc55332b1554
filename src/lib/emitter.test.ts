import { expect, test } from 'vitest'
import { Emitter } from './emitter.ts'

test('a value reaches every listener until that is undone', () => {
  const emitter = new Emitter<number>(() => expect.unreachable())
  const heard: string[] = []
  const first = emitter.on((value) => heard.push(`first ${value}`))
  emitter.on((value) => heard.push(`second ${value}`))
  emitter.emit(1)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  emitter.emit(2)
  expect([heard, emitter.size]).toEqual([['first 1', 'second 1', 'second 2'], 1])
})

test('a listener that throws does not stop the others, and its error is told', () => {
  const errors: unknown[] = []
  const heard: number[] = []
  const emitter = new Emitter<number>((error) => errors.push(error))
  const error = new Error('mine')
  emitter.on(() => {
    throw error
  })
  emitter.on((value) => heard.push(value))
  emitter.emit(1)
  expect([errors, heard]).toEqual([[error], [1]])
})

test('the same function added twice is two listeners, each with its own undo', () => {
  const heard: number[] = []
  const emitter = new Emitter<number>(() => expect.unreachable())
  const listener = (value: number) => void heard.push(value)
  const first = emitter.on(listener)
  emitter.on(listener)
  emitter.emit(1)
  first[Symbol.dispose]()
  emitter.emit(2)
  expect(heard).toEqual([1, 1, 2])
})

test('who is removed while a value goes round is not called, who is added hears the next', () => {
  const heard: string[] = []
  const emitter = new Emitter<number>(() => expect.unreachable())
  emitter.on((value) => {
    second[Symbol.dispose]()
    if (value === 1) emitter.on((later) => heard.push(`added ${later}`))
  })
  const second = emitter.on(() => heard.push('removed'))
  emitter.emit(1)
  emitter.emit(2)
  expect(heard).toEqual(['added 2'])
})
