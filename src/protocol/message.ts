/** Messages on the wire: upstream's three words for where one stands, and beside them the whole ladder. */
import { z } from 'zod'
import { deliveryStates, toMessageStatus } from '../domain/delivery.ts'
import { deliveryClasses, type Message, messageKinds, orchestrationTypes } from '../domain/message.ts'
import { evidenceSources, turnOutcomes } from '../domain/status.ts'
import {
  flagField,
  messageField,
  numberField,
  optional,
  senderField,
  terminalIdField,
  timeField,
  toTime,
  toTimeOrNull,
} from './fields.ts'
import { inputWaitMaxS } from './version.ts'

const messageStatuses = ['pending', 'delivered', 'failed'] as const
export const inboxLimitDefault = 10
export const inboxLimitMax = 100

export const messageSchema = z
  .object({
    id: z.number().int(),
    sender_id: z.string(),
    receiver_id: z.string(),
    message: z.string(),
    orchestration_type: z.enum(messageKinds),
    status: z.enum(messageStatuses),
    created_at: timeField,
    // Ours.
    state: z.enum(deliveryStates),
    detail: z.string().nullable(),
    attempts: z.number().int(),
    job_id: z.string().nullable(),
    author: z
      .string()
      .nullable()
      .describe('`person/unix` or `person/tcp`: a person at that door; else an agent or `cao`'),
    /** How many messages of agents led to it, without a person or a job in between. */
    hops: z.number().int(),
    /** The digest that brings it. */
    carried_by: z.number().int().nullable(),
    updated_at: timeField,
    delivery: z.enum(deliveryClasses),
    proof: z.enum(evidenceSources).nullable().describe('What shows that the agent took it'),
    receipts: z
      .array(z.object({ state: z.enum(deliveryStates), at: timeField }))
      .describe('When it came to each state, oldest first; of very many the first and the newest ones'),
    turn_outcome: z.enum(turnOutcomes).nullable().describe('How its turn ended'),
    resend_of: z.number().int().nullable().describe('The message that ended badly and is sent again by this one'),
    dropped_at: timeField.nullable().describe('When somebody put this dead letter away'),
  })
  .meta({ id: 'Message' })
export type MessageBody = z.infer<typeof messageSchema>

/** Of `POST …/inbox/messages`; parameters stand in the query (upstream) or in a JSON body. */
export const sendMessageParams = z.object({
  message: messageField,
  sender_id: senderField,
  uuid: optional(z.uuid()).describe("The sender's own name for this message: given twice it is one message"),
  delivery: z
    .enum(deliveryClasses)
    .default('idle')
    .describe(
      'When it is typed. `idle`: between turns. `gap`: also while the agent works, where its program takes that without cancelling ' +
        'anything. `interrupt`: at once, and what the agent does is interrupted for it; not while it waits for an answer',
    ),
})
/** Of `POST …/input`. Without `orchestration_type` the text is typed as it is. */
export const inputParams = z.object({
  message: messageField,
  sender_id: senderField,
  orchestration_type: optional(z.enum(orchestrationTypes)),
  wait_s: numberField(z.number().min(0).max(inputWaitMaxS))
    .default(inputWaitMaxS)
    .describe('How long to wait for the proof before answering with what is known, in seconds'),
})
export const holdParams = z.object({
  why: optional(z.string().min(1).max(200)).describe('For those who look why nothing is delivered'),
})
/** One line: `/name` and what follows. Units: characters. */
export const commandLengthMax = 1_000
/** Of `POST …/command`. */
export const commandParams = inputParams.pick({ wait_s: true }).extend({
  command: z
    .string()
    .max(commandLengthMax)
    .regex(/^\/[A-Za-z][^\p{Cc}]*$/u, 'must be one line that begins with "/" and a letter')
    .describe("A command of the agent's own program, such as `/compact`"),
})
/** Of `GET /messages`. */
export const messagesQuery = z.object({
  limit: numberField(z.number().int().min(1).max(inboxLimitMax)).default(inboxLimitMax),
  state: optional(z.enum(deliveryStates)),
  receiver: optional(terminalIdField),
  sender: senderField,
  dead: flagField.default(false).describe('Only what ended badly and was neither sent again nor dropped'),
})
/** Of `POST /messages/{id}/resend`. */
export const resendParams = z.object({
  receiver_id: optional(terminalIdField).describe('Whom it goes to instead, as when the first receiver is gone'),
})
export const keyParams = z.object({ key: z.string().min(1).max(32) })
export const inboxQuery = z.object({
  limit: numberField(z.number().int().min(1).max(inboxLimitMax)).default(inboxLimitDefault),
  status: optional(z.enum(messageStatuses)),
})

export const sentSchema = messageSchema
  .pick({
    sender_id: true,
    receiver_id: true,
    created_at: true,
    status: true,
    state: true,
    detail: true,
    proof: true,
    delivery: true,
  })
  .extend({ success: z.boolean(), message_id: z.number().int() })
  .meta({ id: 'Sent' })
export type SentBody = z.infer<typeof sentSchema>

export function toMessageBody(message: Message): MessageBody {
  return {
    id: message.id,
    sender_id: message.senderId,
    receiver_id: message.receiverId,
    message: message.body,
    orchestration_type: message.kind,
    status: toMessageStatus(message.state),
    created_at: toTime(message.createdAtMs),
    state: message.state,
    detail: message.detail ?? null,
    attempts: message.attempts,
    job_id: message.jobId ?? null,
    author: message.author ?? null,
    hops: message.hops ?? 0,
    carried_by: message.carriedBy ?? null,
    updated_at: toTime(message.updatedAtMs),
    delivery: message.deliveryClass,
    proof: message.proof ?? null,
    receipts: message.rungs.map(({ state, atMs }) => ({ state, at: toTime(atMs) })),
    turn_outcome: message.turnOutcome ?? null,
    resend_of: message.resendOf ?? null,
    dropped_at: toTimeOrNull(message.droppedAtMs),
  }
}

export function toSentBody(message: Message): SentBody {
  return {
    success: toMessageStatus(message.state) !== 'failed',
    message_id: message.id,
    sender_id: message.senderId,
    receiver_id: message.receiverId,
    created_at: toTime(message.createdAtMs),
    status: toMessageStatus(message.state),
    state: message.state,
    detail: message.detail ?? null,
    proof: message.proof ?? null,
    delivery: message.deliveryClass,
  }
}
