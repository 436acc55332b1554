import { expect, test } from 'vitest'
import { AssertionFault, assert, unreachable } from './assert.ts'

test('an invariant that holds passes, one that does not is a fault that says which', () => {
  assert(true, 'never')
  for (const falsy of [false, 0, '', null, undefined]) {
    expect(() => assert(falsy, 'the row exists')).toThrow(new AssertionFault('the row exists'))
  }
})

test('a branch that can not be reached shows the value that reached it', () => {
  expect(() => unreachable({ kind: 'new' } as never)).toThrow('unreachable: {"kind":"new"}')
})
