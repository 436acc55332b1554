/** Messages between agents and people: queueing, reading, and the notice to a sender whose message ended badly. */

import { badEndings, type DeliveryState, deliveryStates, toMessageStatus } from '../domain/delivery.ts'
import { AppError } from '../domain/errors.ts'
import { type JobId, type MessageId, makeMessageToken, parseTerminalId, type TerminalId } from '../domain/ids.ts'
import {
  type DeliveryClass,
  headlineOf,
  type Message,
  type MessageKind,
  type MessageStatus,
  messageBytesMax,
} from '../domain/message.ts'
import { refuseClass } from '../inbox/urgency.ts'
import { type AppContext, requireTerminal } from './context.ts'
import type { CoreContext } from './core-context.ts'
import { releaseQueue } from './hold-queue.ts'
import { countHops, requireHops } from './hops.ts'

export type QueueMessage = {
  readonly kind: MessageKind
  readonly senderId: string
  readonly receiverId: TerminalId
  readonly body: string
  readonly jobId: JobId | undefined
  /** Undefined: the sender, where that is an agent or CAO itself. */
  readonly author?: string
  /** Of what it is about. */
  readonly hops?: number
  /** Undefined: idle. */
  readonly deliveryClass?: DeliveryClass
  /** The dead letter that is sent again. */
  readonly resendOf?: MessageId
}

/** What queueing needs of the app. */
export type MailboxContext = CoreContext & Pick<AppContext, 'runtimes'>

/**
 * Queues and wakes the receiver's worker. Errors: NOT_FOUND, BAD_REQUEST (also for a class that the receiver's program can not serve),
 * TOO_LARGE, BLOCKED for an agent that exited, QUEUE_FULL.
 */
export function queueMessage(context: MailboxContext, message: QueueMessage): Message {
  const { store, clock, random, events, runtimes } = context
  const receiver = requireTerminal(context, message.receiverId)
  if (message.body === '') throw new AppError('BAD_REQUEST', 'the message is empty')
  if (message.senderId === message.receiverId)
    throw new AppError('BAD_REQUEST', 'a terminal can not send a message to itself')
  if (Buffer.byteLength(message.body) > messageBytesMax) {
    throw new AppError(
      'TOO_LARGE',
      `the message is larger than ${messageBytesMax} bytes; put it into a file and send the path`,
    )
  }
  if (receiver.life === 'exited' || receiver.life === 'deleting') {
    throw new AppError(
      'BLOCKED',
      `terminal ${receiver.id} takes no more messages: its agent has ended (${receiver.life})`,
    )
  }
  const provider = runtimes.get(receiver.id)?.provider
  const unserved = provider === undefined ? undefined : refuseClass(message.deliveryClass ?? 'idle', provider.quirks)
  if (unserved !== undefined)
    throw new AppError('BAD_REQUEST', `terminal ${receiver.id} (${receiver.provider}): ${unserved}`)
  const atMs = clock.nowMs()
  const { author, hops } = describeOrigin(context, message)
  const { row, event } = store.transaction(() => {
    const inserted = store.messages.insert({
      ...message,
      ...author,
      hops,
      token: makeMessageToken(random),
      createdAtMs: atMs,
    })
    const { id: messageId, kind, senderId, receiverId, resendOf } = inserted
    return {
      row: inserted,
      event: store.events.append(
        { type: 'message.queued', messageId, kind, senderId, receiverId, resendOf, ...author },
        atMs,
      ),
    }
  })
  events.announce(event)
  if (row.author?.startsWith('person/') === true) releaseQueue(context, receiver.id, row.author)
  runtimes.get(receiver.id)?.worker.wake()
  return row
}

/** Errors: LIMIT_REACHED. */
function describeOrigin(
  context: MailboxContext,
  { senderId, receiverId, kind, jobId, author, hops }: QueueMessage,
): { readonly author: { readonly author?: string }; readonly hops: number } {
  const agent = parseTerminalId(senderId)
  const known = author ?? agent ?? (senderId === 'cao' ? 'cao' : undefined)
  const origin = known === undefined ? {} : { author: known }
  const isOwnWord =
    agent !== undefined && jobId === undefined && kind !== 'callback' && author?.startsWith('person/') !== true
  if (!isOwnWord) return { author: origin, hops: hops ?? 0 }
  const count = countHops(context, agent)
  requireHops(context, count, agent, receiverId)
  return { author: origin, hops: count }
}

export function requireMessage(context: AppContext, id: MessageId): Message {
  const message = context.store.messages.find(id)
  if (message === undefined) throw new AppError('NOT_FOUND', `there is no message ${id}`)
  return message
}

export function listMessages(
  context: AppContext,
  receiverId: TerminalId,
  options: { readonly limit: number; readonly status?: MessageStatus },
): readonly Message[] {
  requireTerminal(context, receiverId)
  const { status, limit } = options
  if (status === undefined) return context.store.messages.list(receiverId, { limit })
  const states: readonly DeliveryState[] = deliveryStates.filter((state) => toMessageStatus(state) === status)
  return context.store.messages.list(receiverId, { limit, states })
}

/** Tells the sending agent once that its message ended badly. Notices and callbacks have no one who could act on it. */
export function tellSender(context: AppContext, message: Message): void {
  if (!badEndings.includes(message.state) || message.kind === 'notice' || message.kind === 'callback') return
  const senderId = parseTerminalId(message.senderId)
  if (senderId === undefined || context.store.terminals.find(senderId)?.life !== 'live') return
  // A job's asker is told of its end by the job itself, also when nothing proves that the task arrived.
  if (message.jobId !== undefined) return
  const why = message.detail ?? 'no more is known'
  const what = `Your message ${message.id} to ${message.receiverId} is ${message.state}: ${why}.`
  const body = `${what}\nIt began: ${headlineOf(message.body)}\nThe tool sent_messages sends it again or drops it.`
  try {
    const { hops = 0 } = message
    queueMessage(context, { kind: 'notice', senderId: 'cao', receiverId: senderId, body, jobId: undefined, hops })
  } catch (error) {
    context.log.write('warn', 'sender not told', { messageId: message.id, error: String(error) })
  }
}
