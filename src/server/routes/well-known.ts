/** `/.well-known/…`: what programs look for by themselves. */
import { AppError } from '../../domain/errors.ts'
import { errorSchema } from '../../protocol/error-schema.ts'
import { route } from '../route.ts'

export const wellKnownRoutes = [
  route({
    at: 'GET /.well-known/oauth-protected-resource',
    summary: 'Which identity provider gives tokens: none, so it is always 404, as upstream answers without one',
    isUpstream: true,
    access: 'open',
    status: 404,
    answer: errorSchema,
    handle: () => {
      throw new AppError(
        'NOT_FOUND',
        'no identity provider: the token of this server is the text of CAO_HOME/run/token',
      )
    },
  }),
]
