/** send_message: into another agent's inbox, or into the outbox while the server is down. */
import { z } from 'zod'
import { AppError } from '../../domain/errors.ts'
import { deliveryClasses } from '../../domain/message.ts'
import { outboxVersion } from '../../protocol/outbox.ts'
import { writeOutbox } from '../outbox-writer.ts'
import { defineTool, isServerAway, type ToolContext, type ToolResult } from '../tool.ts'
import { terminalId } from './arguments.ts'

export const sendMessage = defineTool({
  name: 'send_message',
  title: 'Send a message to another agent',
  description: [
    'Puts a message into the inbox of another agent and returns at once; it is typed to that agent when it is between turns,',
    'with your terminal id on it. Without `receiver_id` it goes to the agent that gave you your task. Use it to',
    'report progress, ask your supervisor, or give a worker more to do. You need not send your final answer: what you say',
    'at the end of your turn is given to whoever gave you the task.',
  ].join(' '),
  input: {
    message: z.string().min(1).describe('The text'),
    receiver_id: terminalId
      .optional()
      .describe('Terminal id of the receiver; whoever gave you your task when left out'),
    delivery: z
      .enum(deliveryClasses)
      .optional()
      .describe(
        'When it is typed: "idle" (when left out) between turns; "gap" also while the receiver works, where its program takes that; "interrupt" at once, breaking off what it does',
      ),
  },
  async run({ message, receiver_id, delivery }, context) {
    const { identity, client, signal, makeUuid } = context
    if (receiver_id === identity.terminalId) {
      throw new AppError('BAD_REQUEST', 'receiver_id is your own terminal: a message to oneself is not sent')
    }
    const uuid = makeUuid()
    try {
      const receiverId = receiver_id ?? (await findCaller(context))
      // With its uuid the message is one message, however often it is given.
      const params = { message, sender_id: identity.terminalId, uuid, ...(delivery === undefined ? {} : { delivery }) }
      return { ...(await client.sendMessage(receiverId, params, { signal })) }
    } catch (error) {
      if (!isServerAway(error)) throw error
      return putAside(context, { message, receiverId: receiver_id, uuid })
    }
  },
})

async function findCaller({ client, identity, signal }: ToolContext): Promise<string> {
  const { caller_id } = await client.getTerminal(identity.terminalId, { signal })
  if (caller_id !== null) return caller_id
  throw new AppError('BAD_REQUEST', 'no agent gave you your task: name the receiver in receiver_id')
}

async function putAside(
  { identity, clock }: ToolContext,
  { message, receiverId, uuid }: { message: string; receiverId: string | undefined; uuid: string },
): Promise<ToolResult> {
  await writeOutbox(identity.outboxDir, {
    version: outboxVersion,
    uuid,
    kind: 'send_message',
    sender_id: identity.terminalId,
    receiver_id: receiverId ?? null,
    message,
    created_at: new Date(clock.nowMs()).toISOString(),
  })
  const said = 'queued: the server is down; it will be delivered when it is back'
  return { success: true, message: said, sender_id: identity.terminalId, receiver_id: receiverId ?? null, uuid }
}
