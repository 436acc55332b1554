/** What is typed into a terminal: text, a key, the wish to end. */
import { inputParams, keyParams, toSentBody } from '../../protocol/message.ts'
import { requireCommand, senderOf } from '../access.ts'
import {
  actionWaiting,
  clientWaiting,
  type Router,
  readParams,
  requireActor,
  type Services,
  terminalIdOf,
} from '../context.ts'

export function terminalInputRoutes(router: Router, services: Services): void {
  const { app } = services

  router.post('/terminals/:id/input', async (c) => {
    const id = terminalIdOf(c)
    const actor = requireActor(c)
    requireCommand(app, actor, id)
    const { message, sender_id, orchestration_type, wait_s } = await readParams(c, inputParams)
    const senderId = senderOf(actor, sender_id) ?? 'user'
    const kind = orchestration_type === undefined ? {} : { orchestrationType: orchestration_type }
    const input = { body: message, senderId, waitMs: wait_s * 1_000, ...kind }
    return c.json(toSentBody(await app.sendInput(id, input, clientWaiting(c, services))))
  })
  router.post('/terminals/:id/key', async (c) => {
    const id = terminalIdOf(c)
    requireCommand(app, requireActor(c), id)
    const { key } = await readParams(c, keyParams)
    await app.pressKey(id, key, actionWaiting())
    return c.json({ success: true })
  })
  router.post('/terminals/:id/exit', async (c) => {
    const id = terminalIdOf(c)
    requireCommand(app, requireActor(c), id)
    await app.exitTerminal(id, actionWaiting())
    return c.json({ success: true })
  })
}
