/** Which message goes next when some senders do not want to wait for rest. Pure; order per sender and receiver is never changed. */
import type { DeliveryClass, Message } from '../domain/message.ts'
import type { Quirks } from '../providers/provider.ts'

export type Urgent = { readonly message: Message; readonly deliveryClass: Exclude<DeliveryClass, 'idle'> }

/**
 * The first message to go, of `queued` (oldest first) those whose senders wait for something urgent: what a sender sent before it goes
 * first, and as urgently. Interrupts come before gaps, and these only while the agent works. Undefined: none of them.
 */
export function findUrgent(queued: readonly Message[], isBusy: boolean): Urgent | undefined {
  for (const deliveryClass of ['interrupt', 'gap'] as const) {
    if (deliveryClass === 'gap' && !isBusy) continue
    const wanted = queued.find((message) => message.deliveryClass === deliveryClass)
    const message = queued.find(({ senderId }) => senderId === wanted?.senderId)
    if (message !== undefined) return { message, deliveryClass }
  }
  return undefined
}

/** Why a program can not be given messages of this class; undefined when it can. */
export function refuseClass(
  deliveryClass: DeliveryClass,
  quirks: Pick<Quirks, 'takesPromptsAtWork' | 'interrupt'>,
): string | undefined {
  if (deliveryClass === 'gap' && quirks.takesPromptsAtWork !== true) {
    return 'it takes no prompt at work without disturbing what it does: send with delivery "idle" or "interrupt"'
  }
  if (deliveryClass === 'interrupt' && quirks.interrupt.length === 0) {
    return 'it can not be interrupted: send with delivery "idle"'
  }
  return undefined
}
