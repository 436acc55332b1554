/** `/agents/…`: which profiles and providers there are. */
import { z } from 'zod'
import type { InstallOptions } from '../../app/profile-library.ts'
import { AppError } from '../../domain/errors.ts'
import {
  profileSchema,
  profileSummarySchema,
  providerSchema,
  toProfileBody,
  toProfileSummary,
  toProviderBody,
} from '../../protocol/profile.ts'
import { profileFrontMatterSchema } from '../../protocol/profile-schema.ts'
import {
  installedSchema,
  installParams,
  profileCheckSchema,
  profileHitSchema,
  removedProfileSchema,
  saveParams,
  searchParams,
  toInstalledBody,
  validateParams,
} from '../../protocol/profile-store.ts'
import { clientWaiting } from '../context.ts'
import { namePart } from '../path-parts.ts'
import { route } from '../route.ts'

type Options = {
  provider?: string | undefined
  env_vars?: Readonly<Record<string, string>> | undefined
  force: boolean
}

const toOptions = ({ provider, env_vars: env, force }: Options): InstallOptions => ({
  ...(provider === undefined ? {} : { provider }),
  ...(env === undefined ? {} : { env }),
  isForced: force,
})

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
    at: 'GET /agents/profiles/search',
    summary: 'The profiles that suit the words of `q`, the best first',
    description: 'By name, description, capabilities and tags; the prompt is neither searched nor told.',
    isUpstream: true,
    access: 'any',
    params: searchParams,
    answer: z.array(profileHitSchema),
    handle: async ({ app, params }) => {
      const hits = await app.searchProfiles(params.q, params.limit)
      return hits.map(({ listed, coverage, score }) => ({ ...toProfileSummary(listed), coverage, score }))
    },
  }),
  route({
    at: 'GET /agents/profiles/schema',
    summary: 'The front matter of a profile as JSON Schema',
    isUpstream: true,
    access: 'any',
    answer: z.looseObject({}),
    handle: () => profileFrontMatterSchema,
  }),
  route({
    at: 'POST /agents/profiles/validate',
    summary: 'What is wrong with the text of a profile',
    description: 'Nothing is kept.',
    isUpstream: true,
    access: 'any',
    params: validateParams,
    answer: profileCheckSchema,
    handle: async ({ app, params }) => {
      const { profile, findings } = await app.checkProfile(params.content)
      return { valid: profile !== undefined, messages: [...findings] }
    },
  }),
  route({
    at: 'POST /agents/profiles/install',
    summary: 'Installs a profile by the name of one that is known, or from an https address',
    description:
      'Hosts are those of a list, redirects are not followed, and nothing is written that could not be launched. One of the same name is replaced only with `force`.',
    isUpstream: true,
    access: 'person',
    errors: ['BAD_REQUEST', 'PROFILE_UNKNOWN', 'PROFILE_INVALID', 'PROVIDER_UNKNOWN', 'NAME_TAKEN'],
    params: installParams,
    answer: installedSchema,
    handle: async ({ app, params, services, c }) => {
      const { source, ...options } = params
      return toInstalledBody(await app.installProfile(source, toOptions(options), clientWaiting(c, services)))
    },
  }),
  route({
    at: 'POST /agents/profiles',
    summary: 'Keeps a profile that is given as its text',
    access: 'person',
    status: 201,
    errors: ['PROFILE_INVALID', 'PROVIDER_UNKNOWN', 'NAME_TAKEN'],
    params: saveParams,
    answer: installedSchema,
    handle: async ({ app, params }) => {
      const { content, name, ...options } = params
      return toInstalledBody(await app.saveProfile(content, name, toOptions(options)))
    },
  }),
  route({
    at: 'DELETE /agents/profiles/:name',
    summary: 'Removes a profile from the store of this CAO',
    description: 'Those of other stores and the built-in ones stay.',
    access: 'person',
    errors: ['NOT_FOUND'],
    path: { name: namePart },
    answer: removedProfileSchema,
    handle: async ({ app, path }) => ({
      success: true as const,
      name: path.name,
      ...(await app.removeProfile(path.name)),
    }),
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
