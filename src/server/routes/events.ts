/** `/events`: the stream (server-sent events with resume and explicit gaps) and its history. */
import { AppError } from '../../domain/errors.ts'
import { eventHistorySchema, historyQuery, streamQuery, toEventBody } from '../../protocol/event.ts'
import { createEventStream } from '../event-stream.ts'
import { route } from '../route.ts'

export const eventRoutes = [
  route({
    at: 'GET /events',
    summary: 'Streams what happens as server-sent events',
    description:
      'The first frame is `snapshot` with the `seq` up to which a reader is informed, or `gap` when events after `after` are no longer kept: load everything again. ' +
      'Then each event comes with its `seq` as id. `Last-Event-ID` resumes and wins over `after`. A reader that does not keep up is cut off.',
    access: 'person',
    params: streamQuery,
    answer: 'text/event-stream',
    handle: ({ c, services, params }) => {
      // A browser that reconnects asks the old address again: what it saw last is in the header.
      const after = parseLastEventId(c.req.header('last-event-id')) ?? params.after
      return c.body(createEventStream(services, after), 200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'transfer-encoding': 'chunked',
        'x-accel-buffering': 'no',
      })
    },
  }),
  route({
    at: 'GET /events/history',
    summary: 'The same events as a list: those after `after`, else the last ones',
    access: 'person',
    params: historyQuery,
    answer: eventHistorySchema,
    handle: ({ app, params: { limit, after } }) => {
      const from = after ?? Math.max(0, app.lastEventSeq() - limit)
      const page = app.listEvents(from, limit)
      return { events: (page ?? []).map(toEventBody), gap: page === undefined, last_seq: app.lastEventSeq() }
    },
  }),
]

/** Errors: VALIDATION. */
function parseLastEventId(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,15}$/.test(text)) throw new AppError('VALIDATION', 'Last-Event-ID must be the id of an event')
  return Number(text)
}
