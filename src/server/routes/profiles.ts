/** `/agents/…`: which profiles and providers there are. */
import { z } from 'zod'
import { AppError } from '../../domain/errors.ts'
import {
  profileSchema,
  profileSummarySchema,
  providerSchema,
  toProfileBody,
  toProfileSummary,
  toProviderBody,
} from '../../protocol/profile.ts'
import { namePart } from '../path-parts.ts'
import { route } from '../route.ts'

export const profileRoutes = [
  route({
    at: 'GET /agents/profiles',
    summary: 'All agent profiles, in short',
    isUpstream: true,
    access: 'any',
    answer: z.array(profileSummarySchema),
    handle: async ({ app }) => (await app.listProfiles()).map(toProfileSummary),
  }),
  route({
    at: 'GET /agents/providers',
    summary: 'The providers, and whether the program of each is there',
    isUpstream: true,
    access: 'any',
    answer: z.array(providerSchema),
    handle: async ({ app }) => (await app.listProviders()).map(toProviderBody),
  }),
  route({
    at: 'GET /agents/profiles/:name',
    summary: 'One profile; absent fields are left out',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND', 'PROFILE_INVALID'],
    path: { name: namePart },
    answer: profileSchema,
    handle: async ({ app, path }) => {
      try {
        return toProfileBody(await app.loadProfile(path.name))
      } catch (error) {
        // Asked for by its path it is a missing thing (404, as upstream); named in a creation it is a bad value (400).
        if (error instanceof AppError && error.code === 'PROFILE_UNKNOWN') {
          throw new AppError('NOT_FOUND', error.message, { cause: error })
        }
        throw error
      }
    },
  }),
]
