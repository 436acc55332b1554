/**
 * The road of a delegated task: start the job (asking again while the server is away, always with the same key, so that it
 * is one job), then wait for its end across restarts of the server. The key is the agent's own where it gives one: then it also
 * outlives the call itself.
 */
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { JobBody, JobLineBody, StartJobParams } from '../protocol/job.ts'
import { isServerAway, type ToolContext } from './tool.ts'

/** How long a start waits for a server that is away. Units: ms. */
export const startRetryMs = 10_000
/** How long one request is held, and how often progress is told. Units: s. */
export const waitRoundS = 5
/** The server ends a job at its deadline; this is how much longer we ask. Units: ms. */
export const endMarginMs = 60_000
const retryPauseMs = 500

/** Errors: SERVER_UNREACHABLE after `startRetryMs`, and what the server refuses. */
export async function startJob(context: ToolContext, params: StartJobParams): Promise<JobBody> {
  const { client, signal, makeUuid } = context
  const request = { ...params, request_key: params.request_key ?? makeUuid() }
  return askAgain(context, 'nothing was started', () => client.startJob(request, { signal }))
}

/** For what may be asked twice. `otherwise`: what is to be said of it then. Errors: SERVER_UNREACHABLE after `startRetryMs`, and what the server refuses. */
export async function askAgain<T>(
  { clock, signal }: ToolContext,
  otherwise: string,
  ask: () => Promise<T>,
): Promise<T> {
  const giveUpAtMs = clock.monotonicMs() + startRetryMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!isServerAway(error)) throw error
      if (clock.monotonicMs() >= giveUpAtMs) {
        const sentence = `the CAO server is down, ${otherwise} (waited ${startRetryMs / 1_000} s): try again later`
        throw new AppError('SERVER_UNREACHABLE', sentence, { cause: error })
      }
      await sleep(clock, retryPauseMs, signal)
    }
  }
}

/**
 * The ended job. Errors: TIMEOUT when the server does not say the end by `limitMs` plus a margin; the job goes on. Without a margin
 * it is returned as it stands then.
 */
export async function waitForEnd(
  context: ToolContext,
  started: JobBody,
  limitMs: number,
  marginMs = endMarginMs,
): Promise<JobBody> {
  const { client, clock, signal } = context
  const beganAtMs = clock.monotonicMs()
  const giveUpAtMs = beganAtMs + limitMs + marginMs
  // Whoever fetches the end is not told of it once more by a message.
  let job = started.is_open ? started : await client.getJob(started.id, 0.1, { signal })
  while (job.is_open) {
    const nowMs = clock.monotonicMs()
    if (nowMs >= giveUpAtMs && marginMs === 0) return job
    if (nowMs >= giveUpAtMs) throw notHeard(job)
    await context.report({
      doneS: Math.round((nowMs - beganAtMs) / 1_000),
      ofS: Math.round(limitMs / 1_000),
      message: describeWork(job),
    })
    const roundS = Math.max(1, Math.min(waitRoundS, Math.ceil((giveUpAtMs - nowMs) / 1_000)))
    try {
      job = await client.getJob(job.id, roundS, { signal })
    } catch (error) {
      if (!isServerAway(error)) throw error
      await sleep(clock, retryPauseMs, signal)
    }
  }
  return job
}

/** The job once its worker is known (or it has ended), within `limitMs`; else as it stands. */
export async function waitForWorker(context: ToolContext, started: JobBody, limitMs: number): Promise<JobBody> {
  const { client, clock, signal } = context
  const giveUpAtMs = clock.monotonicMs() + limitMs
  let job = started
  while (job.is_open && job.terminal_id === null && clock.monotonicMs() < giveUpAtMs) {
    await sleep(clock, 100, signal)
    job = await client.getJob(job.id, 0, { signal })
  }
  return job
}

/** What its worker does, or what it waits for: a question is told with its text and how to answer it. */
export function describeWork({ agent_profile, terminal_id, attention }: JobBody | JobLineBody): string {
  const who = `${agent_profile}${terminal_id === null ? '' : ` in terminal ${terminal_id}`}`
  if (attention === null) return `${who} is at work`
  if (attention.kind !== 'question') return `${who}: ${attention.detail}`
  return `${who} waits for an answer (answer_user_prompt, question_id ${attention.question_id}): ${attention.detail}`
}

/** How a job ended, as a tool tells it. */
export function tellEnd(job: JobBody) {
  const where = job.terminal_id === null ? '' : ` (terminal ${job.terminal_id})`
  const isDone = job.state === 'answered'
  const said = job.ending === 'no_change_needed' ? 'says that no change is needed' : 'has answered'
  const message = isDone
    ? `${job.agent_profile} ${said}${where}`
    : `${job.agent_profile} did not answer${where}: ${job.failure ?? job.state}`
  return { success: isDone, message, output: job.output, terminal_id: job.terminal_id, job_id: job.id }
}

export type WorkerPlace = { readonly path: string; readonly branch: string; readonly notes: readonly string[] }

/** Where the worker's own worktree is, for the one who will want what is in it. Nothing when it has none. */
export async function findWorktree(
  { client, signal }: ToolContext,
  { terminal_id }: JobBody,
): Promise<{ readonly worktree?: WorkerPlace }> {
  if (terminal_id === null) return {}
  try {
    const { worktree } = await client.getTerminal(terminal_id, { signal })
    if (worktree === null) return {}
    return { worktree: { path: worktree.path, branch: worktree.branch, notes: worktree.notes } }
  } catch (error) {
    // It ended at once, or the server is away: what is kept is told of by a message.
    if (error instanceof AppError) return {}
    throw error
  }
}

function notHeard(job: JobBody): AppError {
  const sentence = `the end of job ${job.id} was not heard in time; its worker may still be at work and will report to your inbox`
  return new AppError('TIMEOUT', sentence, { data: { job_id: job.id, terminal_id: job.terminal_id } })
}
