/** `/events`: the stream (server-sent events with resume and explicit gaps) and its history. */
import { z } from 'zod'
import { AppError } from '../../domain/errors.ts'
import { type EventHistoryBody, eventHistoryLimitMax, toEventBody } from '../../protocol/event.ts'
import { numberField } from '../../protocol/fields.ts'
import { requirePerson } from '../access.ts'
import { type Router, readQuery, requireActor, type Services } from '../context.ts'
import { createEventStream } from '../event-stream.ts'

const seqField = numberField.pipe(z.number().int().min(0))
const streamQuery = z.object({ after: seqField.optional() })
const historyQuery = z.object({
  after: seqField.optional(),
  limit: numberField.pipe(z.number().int().min(1).max(eventHistoryLimitMax)).default(100),
})

export function eventRoutes(router: Router, services: Services): void {
  const { app } = services

  router.get('/events', (c) => {
    requirePerson(requireActor(c))
    // A browser that reconnects asks the old address again: what it saw last is in the header.
    const after = parseLastEventId(c.req.header('last-event-id')) ?? readQuery(c, streamQuery).after
    const stream = createEventStream(services, after)
    return c.body(stream, 200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'transfer-encoding': 'chunked',
      'x-accel-buffering': 'no',
    })
  })
  router.get('/events/history', (c) => {
    requirePerson(requireActor(c))
    const { limit, after } = readQuery(c, historyQuery)
    const from = after ?? Math.max(0, app.lastEventSeq() - limit)
    const page = app.listEvents(from, limit)
    return c.json({
      events: (page ?? []).map(toEventBody),
      gap: page === undefined,
      last_seq: app.lastEventSeq(),
    } satisfies EventHistoryBody)
  })
}

/** Errors: VALIDATION. */
function parseLastEventId(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,15}$/.test(text)) throw new AppError('VALIDATION', 'Last-Event-ID must be the id of an event')
  return Number(text)
}
