/** Messages between agents: put one into an inbox, see where one stands. */
import { z } from 'zod'
import {
  inboxQuery,
  messageSchema,
  sendMessageParams,
  sentSchema,
  toMessageBody,
  toSentBody,
} from '../../protocol/message.ts'
import { requireReach, senderOf } from '../access.ts'
import { messageIdPart, terminalIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

export const inboxRoutes = [
  route({
    at: 'POST /terminals/:id/inbox/messages',
    summary: 'Queues a message for an agent and answers at once',
    description:
      'It is typed when the agent takes input; `GET /messages/{id}` tells where it stands. An agent is the sender itself; a person is `user` unless it gives a name. ' +
      'The same `uuid` again is the same message.',
    isUpstream: true,
    access: 'reach',
    errors: ['BAD_REQUEST', 'TOO_LARGE', 'BLOCKED', 'QUEUE_FULL'],
    path: { id: terminalIdPart },
    params: sendMessageParams,
    answer: sentSchema,
    handle: ({ app, actor, path, params: { message, sender_id, uuid } }) => {
      const senderId = senderOf(actor, sender_id) ?? 'user'
      const named = uuid === undefined ? {} : { uuid }
      return toSentBody(app.queueMessage({ senderId, receiverId: path.id, body: message, ...named }))
    },
  }),
  route({
    at: 'GET /terminals/:id/inbox/messages',
    summary: 'The messages of an agent, oldest first',
    isUpstream: true,
    access: 'reach',
    path: { id: terminalIdPart },
    params: inboxQuery,
    answer: z.array(messageSchema),
    handle: ({ app, path, params: { limit, status } }) => {
      const options = status === undefined ? { limit } : { limit, status }
      return app.listMessages(path.id, options).map(toMessageBody)
    },
  }),
  route({
    at: 'GET /messages/:id',
    summary: 'Where one message stands, and by which proof',
    access: 'any',
    errors: ['NOT_FOUND', 'FORBIDDEN'],
    path: { id: messageIdPart },
    answer: messageSchema,
    handle: ({ app, actor, path }) => {
      const message = app.getMessage(path.id)
      const isOwn = actor.kind === 'terminal' && message.senderId === actor.id
      // A person reads the fate of a message even when its receiver is gone.
      if (!isOwn && actor.kind === 'terminal') requireReach(app, actor, message.receiverId)
      return toMessageBody(message)
    },
  }),
]
