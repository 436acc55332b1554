/** Messages between agents: put one into an inbox, see where one stands. */
import { AppError } from '../../domain/errors.ts'
import { trustMessageId } from '../../domain/ids.ts'
import { inboxQuery, sendMessageParams, toMessageBody, toSentBody } from '../../protocol/message.ts'
import { requireReach, senderOf } from '../access.ts'
import { type Router, readParams, readQuery, requireActor, type Services, terminalIdOf } from '../context.ts'

export function inboxRoutes(router: Router, { app }: Services): void {
  router.post('/terminals/:id/inbox/messages', async (c) => {
    const receiverId = terminalIdOf(c)
    const actor = requireActor(c)
    requireReach(app, actor, receiverId)
    const { message, sender_id, uuid } = await readParams(c, sendMessageParams)
    const senderId = senderOf(actor, sender_id) ?? 'user'
    return c.json(
      toSentBody(app.queueMessage({ senderId, receiverId, body: message, ...(uuid === undefined ? {} : { uuid }) })),
    )
  })
  router.get('/terminals/:id/inbox/messages', (c) => {
    const receiverId = terminalIdOf(c)
    requireReach(app, requireActor(c), receiverId)
    const { limit, status } = readQuery(c, inboxQuery)
    const options = status === undefined ? { limit } : { limit, status }
    return c.json(app.listMessages(receiverId, options).map(toMessageBody))
  })
  router.get('/messages/:id', (c) => {
    const text = c.req.param('id')
    if (!/^[1-9]\d{0,14}$/.test(text)) throw new AppError('VALIDATION', 'a message id is a positive whole number')
    const message = app.getMessage(trustMessageId(Number(text)))
    const actor = requireActor(c)
    const isOwn = actor.kind === 'terminal' && message.senderId === actor.id
    // A person reads the fate of a message even when its receiver is gone.
    if (!isOwn && actor.kind === 'terminal') requireReach(app, actor, message.receiverId)
    return c.json(toMessageBody(message))
  })
}
