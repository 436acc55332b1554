/** What ended long ago is forgotten when a person asks for it; the server does it by itself once an hour. */
import { purgeBody, purgedSchema } from '../../protocol/purge.ts'
import { actionWaiting } from '../context.ts'
import { route } from '../route.ts'

export const purgeRoutes = [
  route({
    at: 'POST /purge',
    summary: 'Forgets what ended longer ago than `older_than_s`; never what lives, waits or is open',
    access: 'person',
    params: purgeBody,
    answer: purgedSchema,
    handle: async ({ app, params }) => {
      const { older_than_s, dry_run } = params
      const olderThanMs = older_than_s === undefined ? undefined : older_than_s * 1_000
      const { ended, ...rows } = await app.purge({ olderThanMs, isDryRun: dry_run ?? false }, actionWaiting())
      return { ended: [...ended], ...rows }
    },
  }),
]
