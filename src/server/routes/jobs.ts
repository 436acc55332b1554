/** `/jobs…`: delegated work that outlives the request, the client and the server. */
import type { z } from 'zod'
import type { Actor, App, StartJob } from '../../app/app.ts'
import { AppError } from '../../domain/errors.ts'
import { parseSessionName, type SessionName, type TerminalId } from '../../domain/ids.ts'
import { startJobBody, toJobBody, waitJobQuery } from '../../protocol/job.ts'
import { assignTimeoutDefaultS, stepTimeoutDefaultS } from '../../protocol/version.ts'
import { callerOf, requireCommand, requireJobOf } from '../access.ts'
import {
  actionWaiting,
  clientWaiting,
  jobIdOf,
  type Router,
  readParams,
  readQuery,
  requireActor,
  type Services,
} from '../context.ts'
import { refuseUnsupported } from '../creation.ts'

export function jobRoutes(router: Router, services: Services): void {
  const { app } = services

  router.post('/jobs', async (c) => {
    const params = await readParams(c, startJobBody)
    const request = toStartJob(params, requireActor(c), app)
    return c.json(toJobBody(await app.startJob(request, actionWaiting())), 201)
  })
  router.get('/jobs/:id', async (c) => {
    const id = jobIdOf(c)
    const job = app.getJob(id)
    requireJobOf(requireActor(c), job, 'read')
    const { wait_s } = readQuery(c, waitJobQuery)
    if (wait_s === 0) return c.json(toJobBody(job))
    return c.json(toJobBody(await app.waitForJob(id, wait_s * 1_000, clientWaiting(c, services))))
  })
  router.post('/jobs/:id/cancel', async (c) => {
    const id = jobIdOf(c)
    requireJobOf(requireActor(c), app.getJob(id), 'cancel')
    return c.json(toJobBody(await app.cancelJob(id, actionWaiting())))
  })
}

function toStartJob(params: z.output<typeof startJobBody>, actor: Actor, app: App): StartJob {
  refuseUnsupported(params)
  const { kind } = params
  const callerId = callerOf(actor, params.caller_id)
  const reuseTerminalId = params.reuse_terminal_id as TerminalId | undefined
  if (reuseTerminalId !== undefined) requireCommand(app, actor, reuseTerminalId)
  const timeoutS = params.timeout ?? (kind === 'assign' ? assignTimeoutDefaultS : stepTimeoutDefaultS)
  return {
    kind,
    profileName: params.agent_profile,
    task: params.message,
    timeoutMs: timeoutS * 1_000,
    // A handed-off worker ends with its answer; an assigned one stays for more, as upstream.
    teardown: params.teardown ?? (kind === 'handoff' && reuseTerminalId === undefined),
    ...(params.provider === undefined ? {} : { provider: params.provider }),
    ...(params.working_directory === undefined ? {} : { workingDirectory: params.working_directory }),
    ...(params.allowed_tools ? { allowedTools: params.allowed_tools } : {}),
    ...(params.model === undefined ? {} : { model: params.model }),
    ...(params.session_name === undefined ? {} : { sessionName: requireSessionName(params.session_name) }),
    ...(callerId === undefined ? {} : { callerId }),
    ...(params.request_key === undefined ? {} : { requestKey: params.request_key }),
    ...(reuseTerminalId === undefined ? {} : { reuseTerminalId }),
    ...(params.client_env ? { clientEnv: params.client_env } : {}),
  }
}

/** Errors: BAD_REQUEST. */
export function requireSessionName(text: string): SessionName {
  const name = parseSessionName(text)
  if (name === undefined) throw new AppError('BAD_REQUEST', `"${text}" is no legal session name`)
  return name
}
