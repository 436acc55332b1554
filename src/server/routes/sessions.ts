/** `/sessions…`: teams of agents. */
import type { SessionView } from '../../app/app.ts'
import { AppError } from '../../domain/errors.ts'
import { toDeletedBody, toSessionBody } from '../../protocol/session.ts'
import { toTerminalBody } from '../../protocol/terminal.ts'
import { requirePerson } from '../access.ts'
import {
  actionWaiting,
  clientWaiting,
  type Router,
  readParams,
  requireActor,
  type Services,
  sessionNameOf,
} from '../context.ts'
import { createSessionParams, createTerminalParams, toCreateTerminal } from '../creation.ts'

export function sessionRoutes(router: Router, services: Services): void {
  const { app } = services

  router.post('/sessions', async (c) => {
    const params = await readParams(c, createSessionParams)
    const request = toCreateTerminal(params, requireActor(c))
    const named = params.session_name === undefined ? {} : { sessionName: params.session_name }
    // As upstream: with a first message the answer does not wait until the agent is ready.
    const isDeferred = params.defer_init ?? request.initialMessage !== undefined
    const waiting = clientWaiting(c, services)
    return c.json(toTerminalBody(await app.createSession({ ...request, ...named, isDeferred }, waiting)), 201)
  })
  router.get('/sessions', (c) => c.json(app.listSessions().map(toBody)))
  router.get('/sessions/:name', (c) => {
    const view = app.getSession(sessionNameOf(c))
    return c.json({ session: toBody(view), terminals: view.terminals.map(toTerminalBody) })
  })
  router.delete('/sessions/:name', async (c) => {
    requirePerson(requireActor(c))
    return c.json(toDeletedBody(await app.deleteSession(sessionNameOf(c), actionWaiting())))
  })
  router.post('/shutdown-all', async (c) => {
    requirePerson(requireActor(c))
    return c.json(toDeletedBody(await app.shutdownAll(actionWaiting())))
  })

  router.post('/sessions/:name/terminals', async (c) => {
    const params = await readParams(c, createTerminalParams)
    const request = toCreateTerminal(params, requireActor(c))
    const isDeferred = params.defer_init ?? false
    if (request.initialMessage !== undefined && !isDeferred) {
      throw new AppError('BAD_REQUEST', 'initial_message needs defer_init=true')
    }
    const waiting = clientWaiting(c, services)
    const view = await app.createTerminal(sessionNameOf(c), { ...request, isDeferred }, waiting)
    return c.json(toTerminalBody(view), 201)
  })
  router.get('/sessions/:name/terminals', (c) => {
    const { terminals } = app.getSession(sessionNameOf(c))
    return c.json(terminals.map(toTerminalBody))
  })
}

function toBody({ session, terminals }: SessionView) {
  return toSessionBody(
    session,
    terminals.map(({ terminal }) => terminal),
  )
}
