/** `GET /openapi.json`: what this server offers, for programs. */
import { z } from 'zod'
import { describeApi } from '../openapi.ts'
import { type Route, route } from '../route.ts'

/** `all` is called when the first request comes: the list that it gives contains this route. */
export const openApiRoutes = (all: () => readonly Route[]) => [
  route({
    at: 'GET /openapi.json',
    summary: 'This interface as an OpenAPI 3.1 document',
    isUpstream: true,
    access: 'open',
    answer: z.looseObject({ openapi: z.string() }),
    handle: ({ services: { version } }) => ({ openapi: '', ...describeApi(all(), version) }),
  }),
]
