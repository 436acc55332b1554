/**
 * One message on its way into an agent's composer: the ladder, as a table.
 *
 * Facts that are kept apart: we own the attempt (leased), we are about to touch the keyboard (typing,
 * committed BEFORE the paste), the text is in the terminal (typed), the agent took it (confirmed), it
 * works on it (turn_started), it has answered (answered).
 */
import type { Result } from '../lib/result.ts'
import { applyStep, type IllegalMove, type Moves } from './table.ts'

/** Upstream's three words. */
export type MessageStatus = 'pending' | 'delivered' | 'failed'

export const deliveryStates = [
  'queued',
  'leased',
  'typing',
  'typed',
  'confirmed',
  'turn_started',
  'answered',
  'refused',
  'unconfirmed',
  'expired',
  'undeliverable',
] as const
export type DeliveryState = (typeof deliveryStates)[number]

export const deliverySteps = [
  'lease',
  'release',
  'begin_typing',
  'prove_absent',
  'type',
  'confirm',
  'start_turn',
  'answer',
  'refuse',
  'lapse',
  'expire',
  'give_up',
] as const
export type DeliveryStep = (typeof deliverySteps)[number]

/** Legal moves; `delivery.test.ts` walks every pair. */
export const deliveryMoves: Moves<DeliveryState, DeliveryStep> = {
  queued: { lease: 'leased', expire: 'expired', give_up: 'undeliverable', refuse: 'refused' },
  leased: { begin_typing: 'typing', release: 'queued', refuse: 'refused', give_up: 'undeliverable' },
  // Back to queued only when it is proven that nothing of it reached the terminal.
  typing: { type: 'typed', prove_absent: 'queued', confirm: 'confirmed', lapse: 'unconfirmed' },
  // Never back to queued: the text may sit in the composer, and typing twice is worse than asking.
  typed: { confirm: 'confirmed', lapse: 'unconfirmed' },
  // Late proof is still proof.
  unconfirmed: { confirm: 'confirmed' },
  confirmed: { start_turn: 'turn_started', answer: 'answered' },
  turn_started: { answer: 'answered' },
  answered: {},
  refused: {},
  expired: {},
  undeliverable: {},
}

export function stepDelivery(
  from: DeliveryState,
  step: DeliveryStep,
): Result<DeliveryState, IllegalMove<DeliveryState, DeliveryStep>> {
  return applyStep(deliveryMoves, from, step)
}

const upstreamWords: Readonly<Record<DeliveryState, MessageStatus>> = {
  queued: 'pending',
  leased: 'pending',
  typing: 'pending',
  typed: 'pending',
  unconfirmed: 'pending',
  confirmed: 'delivered',
  turn_started: 'delivered',
  answered: 'delivered',
  refused: 'failed',
  expired: 'failed',
  undeliverable: 'failed',
}

export function toMessageStatus(state: DeliveryState): MessageStatus {
  return upstreamWords[state]
}

/** States in which a message still wants its receiver's keyboard, in the order of a restart's questions. */
export const openDeliveryStates: readonly DeliveryState[] = ['typing', 'typed', 'leased', 'queued']
/** States that end badly: the sender is told once. */
export const badEndings: readonly DeliveryState[] = ['refused', 'unconfirmed', 'expired', 'undeliverable']
/** States of a message that is on its way or in its turn: more will come of it by itself. */
export const movingStates: readonly DeliveryState[] = [...openDeliveryStates, 'confirmed', 'turn_started']
