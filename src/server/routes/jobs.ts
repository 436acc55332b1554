/** `/jobs…`: delegated work that outlives the request, the client and the server. */
import type { z } from 'zod'
import type { Actor, App, StartJob } from '../../app/app.ts'
import { AppError } from '../../domain/errors.ts'
import { parseSessionName, type SessionName, type TerminalId } from '../../domain/ids.ts'
import { jobSchema, startJobBody, toJobBody, waitJobQuery } from '../../protocol/job.ts'
import { assignTimeoutDefaultS, stepTimeoutDefaultS } from '../../protocol/version.ts'
import { callerOf, requireCommand, requireJobOf, requireSession } from '../access.ts'
import { actionWaiting, clientWaiting } from '../context.ts'
import { refuseUnsupported } from '../creation.ts'
import { launchErrors } from '../launch-errors.ts'
import { jobIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

export const jobRoutes = [
  route({
    at: 'POST /jobs',
    summary: 'Gives an agent a task and answers at once',
    description:
      'A `handoff` is waited for with `GET /jobs/{id}`; the answer of an `assign` comes into the inbox of the caller. `timeout` in seconds. ' +
      'The same `request_key` again is the same job.',
    access: 'any',
    status: 201,
    errors: ['NOT_FOUND', ...launchErrors, 'BLOCKED', 'QUEUE_FULL'],
    params: startJobBody,
    answer: jobSchema,
    handle: async ({ app, actor, params }) =>
      toJobBody(await app.startJob(toStartJob(params, actor, app), actionWaiting())),
  }),
  route({
    at: 'GET /jobs/:id',
    summary: 'How a job stands; with `wait_s` once it has ended, or after that time',
    access: 'any',
    errors: ['NOT_FOUND', 'FORBIDDEN'],
    path: { id: jobIdPart },
    params: waitJobQuery,
    answer: jobSchema,
    handle: async ({ app, c, services, actor, path, params: { wait_s } }) => {
      const job = app.getJob(path.id)
      requireJobOf(actor, job, 'read')
      if (wait_s === 0) return toJobBody(job)
      return toJobBody(await app.waitForJob(path.id, wait_s * 1_000, clientWaiting(c, services)))
    },
  }),
  route({
    at: 'POST /jobs/:id/cancel',
    summary: 'Ends a job; one that has ended stays as it is',
    access: 'any',
    errors: ['NOT_FOUND'],
    path: { id: jobIdPart },
    answer: jobSchema,
    handle: async ({ app, actor, path }) => {
      requireJobOf(actor, app.getJob(path.id), 'cancel')
      return toJobBody(await app.cancelJob(path.id, actionWaiting()))
    },
  }),
]

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
    ...(params.session_name === undefined ? {} : { sessionName: sessionFor(app, actor, params.session_name) }),
    ...(callerId === undefined ? {} : { callerId }),
    ...(params.request_key === undefined ? {} : { requestKey: params.request_key }),
    ...(reuseTerminalId === undefined ? {} : { reuseTerminalId }),
    ...(params.client_env ? { clientEnv: params.client_env } : {}),
    ...toUseWorktree(params),
  }
}

/** The session for a new worker. Errors: BAD_REQUEST, FORBIDDEN. */
export function sessionFor(app: App, actor: Actor, text: string): SessionName {
  const name = parseSessionName(text)
  if (name === undefined) throw new AppError('BAD_REQUEST', `"${text}" is no legal session name`)
  requireSession(app, actor, name)
  return name
}

/** Errors: BAD_REQUEST for a terminal that is there already: it works where it works. */
export function toUseWorktree(params: {
  readonly use_worktree?: boolean | null | undefined
  readonly reuse_terminal_id?: string | undefined
}): Pick<StartJob, 'useWorktree'> {
  if (params.use_worktree !== true) return {}
  if (params.reuse_terminal_id === undefined) return { useWorktree: true }
  throw new AppError('BAD_REQUEST', 'use_worktree is for a new agent, and reuse_terminal_id names one that runs')
}
