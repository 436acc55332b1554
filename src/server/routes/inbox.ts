/** Messages between agents: put one into an inbox, see where one stands. */
import { z } from 'zod'
import { type TerminalId, trustId } from '../../domain/ids.ts'
import {
  inboxQuery,
  messageSchema,
  messagesQuery,
  resendParams,
  sendMessageParams,
  sentSchema,
  toMessageBody,
  toSentBody,
} from '../../protocol/message.ts'
import { authorOf, requireReach, requireSender, senderOf } from '../access.ts'
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
    errors: ['BAD_REQUEST', 'TOO_LARGE', 'BLOCKED', 'QUEUE_FULL', 'LIMIT_REACHED'],
    path: { id: terminalIdPart },
    params: sendMessageParams,
    answer: sentSchema,
    handle: ({ app, c, actor, path, params: { message, sender_id, uuid, delivery } }) => {
      const senderId = senderOf(actor, sender_id) ?? 'user'
      const named = uuid === undefined ? {} : { uuid }
      const author = authorOf(actor, c)
      const rest = { author, deliveryClass: delivery, ...named }
      return toSentBody(app.queueMessage({ senderId, receiverId: path.id, body: message, ...rest }))
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
    at: 'GET /messages',
    summary: 'Messages of all agents, newest first; for an agent those that it has sent',
    access: 'any',
    params: messagesQuery,
    answer: z.array(messageSchema),
    handle: ({ app, actor, params: { limit, state, receiver, sender, dead } }) => {
      if (actor.kind === 'terminal' && sender !== undefined && sender !== actor.id) return []
      const senderId = actor.kind === 'terminal' ? actor.id : sender
      const filter = {
        limit,
        isDead: dead,
        ...(state === undefined ? {} : { states: [state] }),
        ...(receiver === undefined ? {} : { receiverId: trustId<TerminalId>(receiver) }),
        ...(senderId === undefined ? {} : { senderId }),
      }
      return app.searchMessages(filter).map(toMessageBody)
    },
  }),
  route({
    at: 'POST /messages/:id/resend',
    summary: 'Sends a message that ended badly once more, as a new message that names the old one',
    description: 'A person any message, an agent its own. The task of a job is not sent again: the job is.',
    access: 'any',
    errors: ['NOT_FOUND', 'BAD_REQUEST', 'CONFLICT', 'BLOCKED', 'QUEUE_FULL'],
    path: { id: messageIdPart },
    params: resendParams,
    answer: sentSchema,
    handle: ({ app, actor, path, params: { receiver_id } }) => {
      const message = app.getMessage(path.id)
      requireSender(actor, message)
      const to = receiver_id === undefined ? message.receiverId : trustId<TerminalId>(receiver_id)
      requireReach(app, actor, to)
      return toSentBody(app.resendMessage(path.id, to))
    },
  }),
  route({
    at: 'POST /messages/:id/drop',
    summary: 'Puts a message that ended badly away: it is listed as dead no more, and its row stays',
    description: 'A person any message, an agent its own.',
    access: 'any',
    errors: ['NOT_FOUND', 'CONFLICT'],
    path: { id: messageIdPart },
    answer: messageSchema,
    handle: ({ app, actor, path }) => {
      requireSender(actor, app.getMessage(path.id))
      return toMessageBody(app.dropMessage(path.id, actor.kind === 'terminal' ? actor.id : 'user'))
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
