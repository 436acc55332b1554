/** What an agent printed: its answer, its screen, slices of its log. */
import { type OutputBody, type OutputRangeBody, outputQuery, rangeQuery } from '../../protocol/output.ts'
import { requireReach } from '../access.ts'
import { clientWaiting, type Router, readQuery, requireActor, type Services, terminalIdOf } from '../context.ts'

export function outputRoutes(router: Router, services: Services): void {
  const { app } = services

  router.get('/terminals/:id/output', async (c) => {
    const id = terminalIdOf(c)
    requireReach(app, requireActor(c), id)
    const { mode } = readQuery(c, outputQuery)
    const { text, source, mode: given, isCurrent } = await app.readOutput(id, mode, clientWaiting(c, services))
    return c.json({ output: text, mode: given, source, is_current: isCurrent } satisfies OutputBody)
  })
  router.get('/terminals/:id/output/range', async (c) => {
    const id = terminalIdOf(c)
    requireReach(app, requireActor(c), id)
    const { offset, length } = readQuery(c, rangeQuery)
    const bytes = await app.readOutputRange(id, offset, length)
    const output = Buffer.from(bytes).toString('utf8')
    const body = { output, offset, length: bytes.length, next_offset: offset + bytes.length }
    return c.json(body satisfies OutputRangeBody)
  })
}
