/** A message from one agent (or person, or CAO) to another, and the header by which its arrival is proven. */

import type { DeliveryState } from './delivery.ts'
import type { JobId, MessageId, MessageToken, TerminalId } from './ids.ts'

export type { MessageStatus } from './delivery.ts'

export const orchestrationTypes = ['send_message', 'handoff', 'assign'] as const
export type OrchestrationType = (typeof orchestrationTypes)[number]
/** `input` is raw: typed as given, without header, matched by its body. `callback` and `notice` come from CAO. */
export const messageKinds = ['input', ...orchestrationTypes, 'callback', 'notice'] as const
export type MessageKind = (typeof messageKinds)[number]

export const messageBytesMax = 4 * 1024 * 1024
/** Messages waiting for one receiver; the next sender gets QUEUE_FULL. */
export const inboxLengthMax = 1_000

export type Message = {
  readonly id: MessageId
  readonly token: MessageToken
  readonly kind: MessageKind
  /** A terminal id, or a name such as `user` or `cao`. */
  readonly senderId: string
  readonly receiverId: TerminalId
  readonly jobId: JobId | undefined
  readonly body: string
  readonly state: DeliveryState
  /** Why it stands where it stands; for `confirmed`, which proof. */
  readonly detail: string | undefined
  readonly attempts: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Characters of a sender's name in the header; the row keeps all of it. */
const headerSenderMax = 64

/** The line that precedes the body of every message between agents. One line, plain ASCII, so that every CLI keeps it whole. */
export function formatHeader(message: Pick<Message, 'token' | 'kind' | 'senderId'>): string {
  // Outsiders name themselves as they like: nothing in a name may end the header or begin a line.
  const sender = message.senderId.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, headerSenderMax)
  return `[cao ${message.kind} ${message.token} from ${sender === '' ? 'unknown' : sender}]`
}

const headerPattern = /\[cao ([a-z_]+) ([a-f0-9]{12}) from ([A-Za-z0-9_-]+)\]/

export type Header = { readonly kind: string; readonly token: string; readonly senderId: string }

/** The first header in `text`, wherever it stands; undefined when there is none. */
export function parseHeader(text: string): Header | undefined {
  const [, kind, token, senderId] = headerPattern.exec(text) ?? []
  return kind === undefined || token === undefined || senderId === undefined ? undefined : { kind, token, senderId }
}

/** What is typed into the composer: header and body, or the body alone for raw input. */
export function formatTyped(message: Message): string {
  return message.kind === 'input' ? message.body : `${formatHeader(message)}\n${message.body}`
}
