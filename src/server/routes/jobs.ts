/** `/jobs…`: delegated work that outlives the request, the client and the server. */
import { z } from 'zod'
import type { Actor, App, StartJob } from '../../app/app.ts'
import { AppError } from '../../domain/errors.ts'
import { parseSessionName, type SessionName, type TerminalId } from '../../domain/ids.ts'
import {
  jobLineSchema,
  jobSchema,
  listJobsQuery,
  reportJobBody,
  retryJobBody,
  startJobBody,
  toJobBody,
  toJobLine,
  toJobStates,
  waitJobQuery,
} from '../../protocol/job.ts'
import { assignTimeoutDefaultS, stepTimeoutDefaultS } from '../../protocol/version.ts'
import { callerOf, requireChecks, requireCommand, requireJobOf, requireSession } from '../access.ts'
import { actionWaiting, clientWaiting } from '../context.ts'
import { refuseUnsupported } from '../creation.ts'
import { launchErrors } from '../launch-errors.ts'
import { jobIdPart } from '../path-parts.ts'
import { route } from '../route.ts'

/** What was not understood has made no job. */
const retryErrors = launchErrors.filter((code) => code !== 'BAD_REQUEST')

export const jobRoutes = [
  route({
    at: 'POST /jobs',
    summary: 'Gives an agent a task and answers at once',
    description:
      'A `handoff` is waited for with `GET /jobs/{id}`; the answer of an `assign` comes into the inbox of the caller. `timeout` in seconds. ' +
      'The same `request_key` again is the same job, also after a restart; with other work it is a conflict. ' +
      '`checks` are commands that must pass before the answer counts ([more](jobs.md)).',
    access: 'any',
    status: 201,
    errors: ['NOT_FOUND', ...launchErrors, 'CONFLICT', 'BLOCKED', 'QUEUE_FULL'],
    params: startJobBody,
    answer: jobSchema,
    handle: async ({ app, actor, params }) => {
      await requireChecks(app, actor, params.checks)
      return toJobBody(await app.startJob(toStartJob(params, actor, app), actionWaiting()))
    },
  }),
  route({
    at: 'GET /jobs',
    summary: 'Lists jobs, the newest first, without their long texts',
    description: 'An agent sees those that it asked for or works on. `state` may also be `open` or `ended`.',
    access: 'any',
    params: listJobsQuery,
    answer: z.array(jobLineSchema),
    handle: ({ app, actor, params: { state, caller_id, worker_id, limit } }) =>
      app
        .listJobs({
          limit,
          ...(state === undefined ? {} : { states: toJobStates(state) }),
          ...(caller_id === undefined ? {} : { callerId: caller_id as TerminalId }),
          ...(worker_id === undefined ? {} : { workerId: worker_id as TerminalId }),
          ...(actor.kind === 'terminal' ? { partOf: actor.id } : {}),
        })
        .map((job) => toJobLine(job, app.getJobAttention(job))),
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
      const now = wait_s === 0 ? job : await app.waitForJob(path.id, wait_s * 1_000, clientWaiting(c, services))
      return toJobBody(now, app.getJobAttention(now))
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
  route({
    at: 'POST /jobs/:id/retry',
    summary: 'Gives the work of a job that was not answered to a new worker, as a new job',
    description:
      'Asked for again it is the same retry. What may still run of the old job is stopped. The environment of its client is not kept: send `client_env` again.',
    access: 'any',
    status: 201,
    errors: ['NOT_FOUND', ...retryErrors, 'CONFLICT', 'BLOCKED', 'QUEUE_FULL'],
    path: { id: jobIdPart },
    params: retryJobBody,
    answer: jobSchema,
    handle: async ({ app, actor, path, params: { request_key, timeout, client_env } }) => {
      const job = app.getJob(path.id)
      requireJobOf(actor, job, 'cancel')
      await requireChecks(app, actor, job.request.checks)
      const retry = {
        ...(request_key === undefined ? {} : { requestKey: request_key }),
        ...(timeout ? { timeoutMs: timeout * 1_000 } : {}),
        ...(client_env ? { clientEnv: client_env } : {}),
      }
      return toJobBody(await app.retryJob(path.id, retry, actionWaiting()))
    },
  }),
  route({
    at: 'POST /jobs/:id/report',
    summary: 'Ends a job as its worker says: with a result, because no change is needed, or failed',
    description:
      'Given twice it is the same report. Where checks were asked for, they are run after the worker’s turn.',
    access: 'any',
    errors: ['NOT_FOUND', 'CONFLICT'],
    path: { id: jobIdPart },
    params: reportJobBody,
    answer: jobSchema,
    handle: ({ app, actor, path, params: { status, result } }) => {
      requireJobOf(actor, app.getJob(path.id), 'report')
      const job = app.reportJob(path.id, { outcome: status, text: result })
      return toJobBody(job, app.getJobAttention(job))
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
    teardown: params.teardown ?? (kind === 'handoff' && reuseTerminalId === undefined && params.reuse_idle !== true),
    ...(params.provider === undefined ? {} : { provider: params.provider }),
    ...(params.working_directory === undefined ? {} : { workingDirectory: params.working_directory }),
    ...(params.allowed_tools ? { allowedTools: params.allowed_tools } : {}),
    ...(params.model === undefined ? {} : { model: params.model }),
    ...(params.session_name === undefined ? {} : { sessionName: sessionFor(app, actor, params.session_name) }),
    ...(callerId === undefined ? {} : { callerId }),
    ...(params.request_key === undefined ? {} : { requestKey: params.request_key }),
    ...(reuseTerminalId === undefined ? {} : { reuseTerminalId }),
    ...(params.client_env ? { clientEnv: params.client_env } : {}),
    ...(params.reuse_idle === true ? { isReuseIdle: true } : {}),
    ...(params.unattended === true ? { isUnattended: true } : {}),
    ...(params.checks && params.checks.length > 0 ? { checks: params.checks } : {}),
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
