/** How the person is told of what happens, and a try of it. */
import { formatQuietHours } from '../../domain/notice-kind.ts'
import { toTime } from '../../protocol/fields.ts'
import { notifySchema, notifyTestSchema } from '../../protocol/notify.ts'
import { clientWaiting } from '../context.ts'
import { route } from '../route.ts'

export const notifyRoutes = [
  route({
    at: 'GET /notify',
    summary: 'How the person is told of questions and ends, and what is due',
    access: 'person',
    answer: notifySchema,
    handle: ({ app }) => {
      const { rules, states } = app.notifyState()
      return {
        kinds: [...rules.kinds],
        quiet: rules.quiet === undefined ? null : formatQuietHours(rules.quiet),
        batch_s: rules.batchMs / 1_000,
        channels: states.map(({ channel, due, last }) => ({
          channel,
          due,
          last: last === undefined ? null : { at: toTime(last.atMs), told: last.isTold, detail: last.detail },
        })),
      }
    },
  }),
  route({
    at: 'POST /notify/test',
    summary: 'Tells the person something on each way, once, also in quiet hours',
    access: 'person',
    answer: notifyTestSchema,
    handle: async ({ app, c, services }) => {
      const tested = await app.testNotify(clientWaiting(c, services))
      return {
        channels: tested.map(({ channel, outcome }) => ({
          channel,
          told: outcome.kind === 'told',
          detail: outcome.kind === 'told' ? outcome.detail : outcome.why,
        })),
      }
    },
  }),
]
