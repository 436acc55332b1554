/** A message from one agent (or person, or CAO) to another, and the header by which its arrival is proven. */

import type { DeliveryState } from './delivery.ts'
import type { JobId, MessageId, MessageToken, TerminalId } from './ids.ts'
import type { EvidenceSource, TurnOutcome } from './status.ts'

export type { MessageStatus } from './delivery.ts'

export const orchestrationTypes = ['send_message', 'handoff', 'assign'] as const
export type OrchestrationType = (typeof orchestrationTypes)[number]
/**
 * `input` is raw: typed as given, without header, matched by its body. `command` is one of the program's own, such as `/compact`:
 * raw too, and no prompt. `callback`, `notice` and `digest` (several of these) come from CAO.
 */
export const messageKinds = ['input', ...orchestrationTypes, 'callback', 'notice', 'digest', 'command'] as const
export type MessageKind = (typeof messageKinds)[number]

/**
 * When it is typed, as the sender chose: when the agent rests; while it works, as soon as nothing is cancelled by it (a gap); or at
 * once, and what the agent does is interrupted for it.
 */
export const deliveryClasses = ['idle', 'gap', 'interrupt'] as const
export type DeliveryClass = (typeof deliveryClasses)[number]

/** A state that a message came to, and when. */
export type Rung = { readonly state: DeliveryState; readonly atMs: number }
/** Of one that goes to and fro the first and the last ones are kept. */
export const rungsMax = 24

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
  readonly deliveryClass: DeliveryClass
  /** The message that ended badly, and whose text this is. */
  readonly resendOf: MessageId | undefined
  readonly state: DeliveryState
  /** Why it stands where it stands; for `confirmed`, which proof. */
  readonly detail: string | undefined
  readonly attempts: number
  /** Every state since `queued`, oldest first. */
  readonly rungs: readonly Rung[]
  /** What shows that the agent took it. */
  readonly proof: EvidenceSource | undefined
  /** How its turn ended, once it is `answered`. */
  readonly turnOutcome: TurnOutcome | undefined
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** Whose hand it came from: `person/unix` and `person/tcp` are people at a door, else the agent's id or `cao`. Undefined: not known. */
  readonly author?: string | undefined
  /** How many messages of agents led to it without a person or a job in between; undefined is none. */
  readonly hops?: number | undefined
  /** The digest that brings it to its receiver: where that stands, this stands. */
  readonly carriedBy?: MessageId | undefined
  /** Somebody has put this dead letter away. */
  readonly droppedAtMs: number | undefined
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

/** Typed as it is, and known again by its text alone. */
export const isRaw = ({ kind }: Pick<Message, 'kind'>): boolean => kind === 'input' || kind === 'command'

/** What is typed into the composer: header and body, or the body alone for raw input. */
export function formatTyped(message: Message): string {
  return isRaw(message) ? message.body : `${formatHeader(message)}\n${message.body}`
}

/** Units: characters. */
const headlineMax = 120

/** The first line of a text that has something in it, for a person or an agent to know it by: one line without control characters. */
export function headlineOf(body: string): string {
  const line = body.split('\n').find((each) => each.trim() !== '') ?? ''
  const clean = line
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const characters = Array.from(clean)
  return characters.length <= headlineMax ? clean : `${characters.slice(0, headlineMax).join('')}…`
}
