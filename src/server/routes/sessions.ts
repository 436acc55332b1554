/** `/sessions…`: teams of agents. */
import { z } from 'zod'
import type { SessionView } from '../../app/app.ts'
import { AppError } from '../../domain/errors.ts'
import {
  deletedSchema,
  sessionDetailSchema,
  sessionSchema,
  toDeletedBody,
  toSessionBody,
} from '../../protocol/session.ts'
import { terminalSchema, toTerminalBody } from '../../protocol/terminal.ts'
import { requireSession } from '../access.ts'
import { actionWaiting, clientWaiting } from '../context.ts'
import { createSessionParams, createTerminalParams, toCreateTerminal } from '../creation.ts'
import { launchErrors } from '../launch-errors.ts'
import { sessionNamePart } from '../path-parts.ts'
import { route } from '../route.ts'

export const sessionRoutes = [
  route({
    at: 'POST /sessions',
    summary: 'Starts an agent in a session of its own',
    description:
      'Answers when the agent is ready; with `initial_message` or `defer_init` at once, with status `unknown`. ' +
      'A name gets `cao-` before it where that is missing. What fails leaves nothing behind.',
    isUpstream: true,
    access: 'any',
    status: 201,
    errors: ['NAME_TAKEN', ...launchErrors, 'LAUNCH_FAILED'],
    params: createSessionParams,
    answer: terminalSchema,
    handle: async ({ app, c, services, actor, params }) => {
      const request = toCreateTerminal(params, actor)
      const named = params.session_name === undefined ? {} : { sessionName: params.session_name }
      // As upstream: with a first message the answer does not wait until the agent is ready.
      const isDeferred = params.defer_init ?? request.initialMessage !== undefined
      const waiting = clientWaiting(c, services)
      return toTerminalBody(await app.createSession({ ...request, ...named, isDeferred }, waiting))
    },
  }),
  route({
    at: 'GET /sessions',
    summary: 'All sessions',
    isUpstream: true,
    access: 'any',
    answer: z.array(sessionSchema),
    handle: ({ app }) => app.listSessions().map(toBody),
  }),
  route({
    at: 'GET /sessions/:name',
    summary: 'One session and its agents',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND'],
    path: { name: sessionNamePart },
    answer: sessionDetailSchema,
    handle: ({ app, path }) => {
      const view = app.getSession(path.name)
      return { session: toBody(view), terminals: view.terminals.map(toTerminalBody) }
    },
  }),
  route({
    at: 'DELETE /sessions/:name',
    summary: 'Ends all agents of a session',
    isUpstream: true,
    access: 'person',
    errors: ['NOT_FOUND'],
    path: { name: sessionNamePart },
    answer: deletedSchema,
    handle: async ({ app, path }) => toDeletedBody(await app.deleteSession(path.name, actionWaiting())),
  }),
  route({
    at: 'POST /shutdown-all',
    summary: 'Ends all agents and the tmux server of this CAO',
    access: 'person',
    answer: deletedSchema,
    handle: async ({ app }) => toDeletedBody(await app.shutdownAll(actionWaiting())),
  }),
  route({
    at: 'POST /sessions/:name/terminals',
    summary: 'Starts another agent in a session',
    description: 'Answers when the agent is ready, with `defer_init` at once. `initial_message` needs `defer_init`.',
    isUpstream: true,
    access: 'any',
    status: 201,
    errors: ['NOT_FOUND', ...launchErrors, 'LAUNCH_FAILED'],
    path: { name: sessionNamePart },
    params: createTerminalParams,
    answer: terminalSchema,
    handle: async ({ app, c, services, actor, path, params }) => {
      const request = toCreateTerminal(params, actor)
      const isDeferred = params.defer_init ?? false
      if (request.initialMessage !== undefined && !isDeferred) {
        throw new AppError('BAD_REQUEST', 'initial_message needs defer_init=true')
      }
      requireSession(app, actor, path.name)
      const waiting = clientWaiting(c, services)
      return toTerminalBody(await app.createTerminal(path.name, { ...request, isDeferred }, waiting))
    },
  }),
  route({
    at: 'GET /sessions/:name/terminals',
    summary: 'The agents of a session',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND'],
    path: { name: sessionNamePart },
    answer: z.array(terminalSchema),
    handle: ({ app, path }) => app.getSession(path.name).terminals.map(toTerminalBody),
  }),
]

function toBody({ session, terminals }: SessionView) {
  return toSessionBody(
    session,
    terminals.map(({ terminal }) => terminal),
  )
}
