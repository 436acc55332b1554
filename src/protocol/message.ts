/** Messages on the wire: upstream's three words for where one stands, and beside them the whole ladder. */
import { z } from 'zod'
import { deliveryStates, toMessageStatus } from '../domain/delivery.ts'
import { type Message, messageKinds, orchestrationTypes } from '../domain/message.ts'
import { messageField, numberField, optional, senderField, timeField, toTime } from './fields.ts'
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
    updated_at: timeField,
  })
  .meta({ id: 'Message' })
export type MessageBody = z.infer<typeof messageSchema>

/** Of `POST …/inbox/messages`; parameters stand in the query (upstream) or in a JSON body. */
export const sendMessageParams = z.object({
  message: messageField,
  sender_id: senderField,
  uuid: optional(z.uuid()).describe("The sender's own name for this message: given twice it is one message"),
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
export const keyParams = z.object({ key: z.string().min(1).max(32) })
export const inboxQuery = z.object({
  limit: numberField(z.number().int().min(1).max(inboxLimitMax)).default(inboxLimitDefault),
  status: optional(z.enum(messageStatuses)),
})

export const sentSchema = messageSchema
  .pick({ sender_id: true, receiver_id: true, created_at: true, status: true, state: true, detail: true })
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
    updated_at: toTime(message.updatedAtMs),
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
  }
}
