/** Upstream's run-step: a job one waits for in one request. It goes on when the client leaves; with a request_key it can be asked for again. */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { z } from 'zod'
import type { Actor, App, StartJob } from '../../app/app.ts'
import { AppError, type ErrorCode, errorTable } from '../../domain/errors.ts'
import type { TerminalId } from '../../domain/ids.ts'
import { isJobOpen, type Job } from '../../domain/job.ts'
import type { ErrorBody, StepFailure } from '../../protocol/error-body.ts'
import { runStepBody, type StepBody, stepSchema } from '../../protocol/job.ts'
import { callerOf, requireCommand } from '../access.ts'
import { actionWaiting, clientWaiting } from '../context.ts'
import { refuseUnsupported } from '../creation.ts'
import { launchErrors } from '../launch-errors.ts'
import { route } from '../route.ts'
import { sessionFor, toUseWorktree } from './jobs.ts'

/** The job ends by its own deadline; this is how much later we look whether it has. Units: ms. */
const endMarginMs = 60_000

export const runStepRoutes = [
  route({
    at: 'POST /terminals/run-step',
    summary: 'Runs one task in one request and answers with its last message',
    description:
      '`timeout` in seconds, for the work. The step goes on when the client leaves; with `request_key` it can be asked for again and is not run twice. ' +
      'A failed one is told by `detail.kind`: `error`, `timeout` or `cancelled`.',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND', ...launchErrors, 'CONFLICT', 'BLOCKED', 'QUEUE_FULL', 'WORKER_FAILED', 'TIMEOUT'],
    params: runStepBody,
    answer: stepSchema,
    handle: async ({ app, c, services, actor, params }) => {
      const started = await app.startJob(toStepJob(params, actor, app), actionWaiting())
      const waitMs = Math.max(0, started.deadlineAtMs - services.clock.nowMs()) + endMarginMs
      const job = isJobOpen(started) ? await app.waitForJob(started.id, waitMs, clientWaiting(c, services)) : started
      const answer = toStepAnswer(job, !isJobOpen(started))
      return c.json(answer.body, answer.status as ContentfulStatusCode)
    },
  }),
]

function toStepJob(params: z.output<typeof runStepBody>, actor: Actor, app: App): StartJob {
  refuseUnsupported(params)
  if (params.env_vars && Object.keys(params.env_vars).length > 0) {
    throw new AppError('BAD_REQUEST', 'env_vars of a step belong to workflows, which this version does not have')
  }
  const callerId = callerOf(actor, params.caller_id)
  const reuseTerminalId = params.reuse_terminal_id as TerminalId | undefined
  if (reuseTerminalId !== undefined) requireCommand(app, actor, reuseTerminalId)
  return {
    kind: 'step',
    profileName: params.agent,
    task: params.prompt,
    timeoutMs: params.timeout * 1_000,
    teardown: params.teardown,
    ...(params.provider === undefined ? {} : { provider: params.provider }),
    ...(params.working_directory === undefined ? {} : { workingDirectory: params.working_directory }),
    ...(params.allowed_tools ? { allowedTools: params.allowed_tools } : {}),
    ...(params.model === undefined ? {} : { model: params.model }),
    ...(params.session_name === undefined ? {} : { sessionName: sessionFor(app, actor, params.session_name) }),
    ...(callerId === undefined ? {} : { callerId }),
    ...(params.request_key === undefined ? {} : { requestKey: params.request_key }),
    ...(reuseTerminalId === undefined ? {} : { reuseTerminalId }),
    ...toUseWorktree(params),
  }
}

type StepAnswer = { readonly status: number; readonly body: StepBody | ErrorBody }

/** Pure. An answer, or upstream's failure whose `kind` tells a crashed worker from a slow one. */
export function toStepAnswer(job: Job, wasEnded: boolean): StepAnswer {
  const terminalId = job.workerId ?? null
  const fail = (code: ErrorCode, kind: StepFailure['kind'], otherwise: string): StepAnswer => {
    const message = job.result?.failure ?? otherwise
    const detail = { message, kind, terminal_id: terminalId }
    return { status: errorTable[code].httpStatus, body: { detail, code, data: { job_id: job.id } } }
  }
  switch (job.state) {
    case 'answered': {
      const last_message = job.result?.answer ?? ''
      const body = { terminal_id: terminalId, last_message, replayed: wasEnded, job_id: job.id }
      return { status: 200, body: { ...body, status: 'completed' } }
    }
    case 'failed':
      return fail('WORKER_FAILED', 'error', 'the worker failed')
    case 'cancelled':
      return fail('CONFLICT', 'cancelled', 'the step was cancelled')
    case 'timed_out':
      return fail('TIMEOUT', 'timeout', 'the worker did not end in time')
    case 'created':
    case 'running':
      return fail('TIMEOUT', 'timeout', 'the step is still running past its deadline')
  }
}
