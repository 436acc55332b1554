import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  badEndings,
  type DeliveryState,
  deliveryStates,
  deliverySteps,
  openDeliveryStates,
  stepDelivery,
  toMessageStatus,
} from './delivery.ts'
import { describeTable } from './table.case.ts'

/** The states on the way that `steps` makes, illegal ones left out. */
function walk(steps: readonly (typeof deliverySteps)[number][]): readonly DeliveryState[] {
  const way: DeliveryState[] = ['queued']
  for (const step of steps) {
    const to = stepDelivery(way.at(-1) ?? 'queued', step)
    if (to.ok) way.push(to.value)
  }
  return way
}
const anySteps = fc.array(fc.constantFrom(...deliverySteps), { maxLength: 40 })

describe('a delivery', () => {
  describeTable({
    states: deliveryStates,
    steps: deliverySteps,
    apply: stepDelivery,
    legal: [
      'queued lease leased',
      'queued expire expired',
      'queued give_up undeliverable',
      'queued refuse refused',
      'leased begin_typing typing',
      'leased release queued',
      'leased refuse refused',
      'leased give_up undeliverable',
      'typing type typed',
      'typing prove_absent queued',
      'typing confirm confirmed',
      'typing lapse unconfirmed',
      'typed confirm confirmed',
      'typed lapse unconfirmed',
      'unconfirmed confirm confirmed',
      'confirmed start_turn turn_started',
      'confirmed answer answered',
      'turn_started answer answered',
    ],
  })

  test('is typed at most once, whatever is tried', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        expect(walk(steps).filter((state) => state === 'typed').length).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('never returns to the queue from typed or later', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const way = walk(steps)
        const typedAt = way.indexOf('typed')
        const later: readonly DeliveryState[] = typedAt < 0 ? [] : way.slice(typedAt + 1)
        expect(later.filter((state) => openDeliveryStates.includes(state))).toEqual([])
      }),
    )
  })

  test('once confirmed is never reported as anything worse', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const way = walk(steps)
        const at = way.indexOf('confirmed')
        const words = at < 0 ? [] : way.slice(at).map(toMessageStatus)
        expect(words.every((word) => word === 'delivered')).toBe(true)
      }),
    )
  })

  test('is called by upstream what upstream would call it', () => {
    expect(Object.fromEntries(deliveryStates.map((state) => [state, toMessageStatus(state)]))).toEqual({
      queued: 'pending',
      leased: 'pending',
      typing: 'pending',
      typed: 'pending',
      confirmed: 'delivered',
      turn_started: 'delivered',
      answered: 'delivered',
      refused: 'failed',
      unconfirmed: 'pending',
      expired: 'failed',
      undeliverable: 'failed',
    })
  })

  test('every state is open, or ends badly, or has arrived, and only one of them', () => {
    const arrived: readonly DeliveryState[] = ['confirmed', 'turn_started', 'answered']
    expect([...openDeliveryStates, ...badEndings, ...arrived].toSorted((x, y) => x.localeCompare(y))).toEqual(
      deliveryStates.toSorted((x, y) => x.localeCompare(y)),
    )
  })
})
