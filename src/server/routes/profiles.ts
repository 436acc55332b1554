/** `/agents/…`: which profiles and providers there are. */
import { AppError } from '../../domain/errors.ts'
import { toProfileBody, toProfileSummary, toProviderBody } from '../../protocol/profile.ts'
import type { Router, Services } from '../context.ts'

export function profileRoutes(router: Router, { app }: Services): void {
  router.get('/agents/profiles', async (c) => c.json((await app.listProfiles()).map(toProfileSummary)))
  router.get('/agents/providers', async (c) => c.json((await app.listProviders()).map(toProviderBody)))
  router.get('/agents/profiles/:name', async (c) => {
    try {
      return c.json(toProfileBody(await app.loadProfile(c.req.param('name'))))
    } catch (error) {
      // Asked for by its path it is a missing thing (404, as upstream); named in a creation it is a bad value (400).
      if (error instanceof AppError && error.code === 'PROFILE_UNKNOWN') {
        throw new AppError('NOT_FOUND', error.message, { cause: error })
      }
      throw error
    }
  })
}
