import { expect, test } from 'vitest'
import type { MessageId } from '../domain/ids.ts'
import type { DeliveryClass, Message } from '../domain/message.ts'
import { findUrgent, refuseClass } from './urgency.ts'

let ids = 0
const message = (senderId: string, deliveryClass: DeliveryClass): Message =>
  ({ id: ++ids as MessageId, senderId, deliveryClass }) as Message

test('an interrupt goes before what waits from others, behind what its own sender sent before it', () => {
  const [other, own, urgent] = [message('a', 'idle'), message('b', 'idle'), message('b', 'interrupt')]
  expect(findUrgent([other, own, urgent], true)).toEqual({ message: own, deliveryClass: 'interrupt' })
  expect(findUrgent([other, urgent], false)).toEqual({ message: urgent, deliveryClass: 'interrupt' })
})

test('a gap counts only while the agent works, and less than an interrupt', () => {
  const [gap, urgent] = [message('a', 'gap'), message('b', 'interrupt')]
  expect(findUrgent([gap, urgent], true)?.message).toBe(urgent)
  expect(findUrgent([gap], true)).toEqual({ message: gap, deliveryClass: 'gap' })
  expect(findUrgent([gap], false)).toBeUndefined()
  expect(findUrgent([message('a', 'idle')], true)).toBeUndefined()
})

test('a class is refused where the program can not serve it', () => {
  const able = { takesPromptsAtWork: true, interrupt: [{ kind: 'key', name: 'Escape' }] } as const
  expect((['idle', 'gap', 'interrupt'] as const).map((each) => refuseClass(each, able))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  const unable = { interrupt: [] }
  expect(refuseClass('idle', unable)).toBeUndefined()
  expect(refuseClass('gap', unable)).toContain('no prompt at work')
  expect(refuseClass('interrupt', unable)).toContain('can not be interrupted')
})
