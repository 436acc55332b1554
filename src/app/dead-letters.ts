/**
 * Messages that ended badly: sent again as a new message that names the old one, or put away. Each ends once: who sends it again
 * twice would have it typed twice.
 */
import { badEndings } from '../domain/delivery.ts'
import { AppError } from '../domain/errors.ts'
import type { MessageId, TerminalId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { AppContext } from './context.ts'
import { queueMessage, requireMessage } from './mailbox.ts'

/** `receiverId`: whom it goes to instead, as when the first one is gone. Errors: NOT_FOUND, CONFLICT, and as `queueMessage`. */
export function resendMessage(context: AppContext, id: MessageId, receiverId?: TerminalId): Message {
  const { store } = context
  return store.transaction(() => {
    const message = requireDead(context, id)
    if (message.jobId !== undefined && message.kind !== 'callback') {
      throw new AppError('CONFLICT', `message ${id} is the task of ${message.jobId}: give the job anew instead`)
    }
    const { kind, senderId, body, deliveryClass } = message
    const to = receiverId ?? message.receiverId
    return queueMessage(context, {
      kind,
      senderId,
      body,
      deliveryClass,
      receiverId: to,
      jobId: undefined,
      resendOf: id,
    })
  })
}

/** Puts a dead letter away; its row and an event stay. `by`: who does it. Errors: NOT_FOUND, CONFLICT. */
export function dropMessage(context: AppContext, id: MessageId, by: string): Message {
  const { store, clock, events } = context
  const event = store.transaction(() => {
    const { kind, senderId, receiverId } = requireDead(context, id)
    store.messages.drop(id, clock.nowMs())
    return store.events.append(
      { type: 'message.dropped', messageId: id, kind, senderId, receiverId, by },
      clock.nowMs(),
    )
  })
  events.announce(event)
  return requireMessage(context, id)
}

/** Errors: NOT_FOUND, CONFLICT that says what became of it. */
function requireDead(context: AppContext, id: MessageId): Message {
  const message = requireMessage(context, id)
  if (!badEndings.includes(message.state)) {
    throw new AppError(
      'CONFLICT',
      `message ${id} is ${message.state}: only one that ended badly is sent again or dropped`,
    )
  }
  const again = context.store.messages.findResend(id)
  if (again !== undefined) throw new AppError('CONFLICT', `message ${id} was sent again as message ${again.id}`)
  if (message.droppedAtMs !== undefined) throw new AppError('CONFLICT', `message ${id} was dropped already`)
  return message
}
