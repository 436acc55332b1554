/** How a job was asked for: as the row keeps it, as a launch of its worker, and compared with what is asked under the same key. Pure. */
import { AppError } from '../domain/errors.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Job, JobRequest } from '../domain/job.ts'
import type { CreateTerminal, StartJob } from './app.ts'

/** `reuseTerminalId`: the one that was asked for, or an idle one that was found. */
export function toRequest(request: StartJob, reuseTerminalId: TerminalId | undefined): JobRequest {
  const { timeoutMs, sessionName, provider, workingDirectory, allowedTools, model } = request
  const { useWorktree, checks, isUnattended } = request
  return withoutUndefined({
    timeoutMs,
    sessionName,
    provider,
    workingDirectory,
    allowedTools,
    model,
    useWorktree,
    reuseTerminalId,
    checks,
    isUnattended,
  })
}

type Known<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> }

/** What is there of it, as `StartJob` wants it. */
export const givenOf = (request: JobRequest): Partial<Known<JobRequest>> => withoutUndefined(request)

export function toCreate(job: Job, clientEnv: StartJob['clientEnv']): CreateTerminal {
  const { provider, workingDirectory, allowedTools, model, useWorktree } = givenOf(job.request)
  return {
    profileName: job.profileName,
    isDeferred: true,
    ...(provider && { provider }),
    ...(workingDirectory && { workingDirectory }),
    ...(allowedTools && { allowedTools }),
    ...(model && { model }),
    ...(job.callerId && { callerId: job.callerId }),
    ...(clientEnv && { clientEnv }),
    ...(useWorktree && { useWorktree }),
  }
}

/** Errors: CONFLICT: whoever uses a key again for other work would be told the answer of the first. */
export function requireSame(job: Job, { kind, profileName, task, requestKey }: StartJob): Job {
  if (job.kind === kind && job.profileName === profileName && job.task === task) return job
  const what = `${job.kind} to ${job.profileName}`
  throw new AppError('CONFLICT', `the request key "${requestKey}" is that of ${job.id}, another task (${what})`, {
    data: { job_id: job.id },
  })
}

function withoutUndefined<T extends object>(value: T): Partial<Known<T>> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Partial<Known<T>>
}
