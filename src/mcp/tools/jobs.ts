/** job_status, job_result, job_cancel, report_result: delegated work after it was given, from both of its ends. */
import { z } from 'zod'
import { AppError } from '../../domain/errors.ts'
import type { JobLineBody } from '../../protocol/job.ts'
import { askAgain, describeWork, tellEnd, waitForEnd } from '../delegate.ts'
import { defineTool, type ToolContext } from '../tool.ts'
import { jobId } from './arguments.ts'

const listedMax = 20

export const jobStatus = defineTool({
  name: 'job_status',
  title: 'See how delegated work stands',
  description: [
    'Lists the newest tasks that you gave to others or were given, with state and what each waits for; never their texts.',
    'Use it after an interruption, to find what is still open. You need not poll: ends come to you by themselves. The result',
    'of one is fetched with `job_result`.',
  ].join(' '),
  input: { job_id: jobId.optional().describe('Only this one') },
  async run({ job_id }, { client, signal, identity }) {
    if (job_id !== undefined) {
      const { message: _task, output: _output, checks: _checks, ...job } = await client.getJob(job_id, 0, { signal })
      return { success: true, jobs: [toLine(job, identity.terminalId)] }
    }
    const jobs = await client.listJobs({ limit: listedMax }, { signal })
    return { success: true, jobs: jobs.map((job) => toLine(job, identity.terminalId)) }
  },
})

function toLine(job: Omit<JobLineBody, 'headline'> & { readonly headline?: string }, self: string) {
  const { id, kind, state, ending, agent_profile, terminal_id, caller_id, failure, headline } = job
  return {
    job_id: id,
    kind,
    state,
    ...(ending === null ? {} : { ending }),
    role: caller_id === self ? 'you asked for it' : 'you work on it',
    agent_profile,
    terminal_id,
    ...(headline === undefined ? {} : { headline }),
    ...(job.is_open ? { now: describeWork({ ...job, headline: '' }) } : {}),
    ...(failure === null ? {} : { failure }),
  }
}

export const jobResult = defineTool({
  name: 'job_result',
  title: 'Fetch the result of delegated work',
  description: [
    'Returns the answer of a task that you gave away, in `output`, as `handoff` would have: also after your call timed out or the',
    'server was restarted, and as often as you like. While the task is open `success` is false and `is_open` true.',
    'With `wait_s` it waits for the end that long.',
  ].join(' '),
  input: {
    job_id: jobId.describe('As `handoff` and `assign` return it'),
    wait_s: z.number().int().min(0).max(3_600).default(0).describe('How long to wait for the end, in seconds'),
  },
  async run({ job_id, wait_s }, context) {
    const { client, signal } = context
    // A request that waits, however short, takes the end over: it is not told once more by a message.
    const now = await client.getJob(job_id, 0.1, { signal })
    const job = wait_s === 0 ? now : await waitForEnd(context, now, wait_s * 1_000, 0)
    if (!job.is_open) return { ...tellEnd(job), state: job.state, ending: job.ending, is_open: false }
    const { id, state, terminal_id } = job
    return { success: false, message: describeWork(job), output: null, terminal_id, job_id: id, state, is_open: true }
  },
})

export const jobCancel = defineTool({
  name: 'job_cancel',
  title: 'Call delegated work off',
  description: [
    'Ends a task that you gave away and do not want any more. A worker that was started for a handoff is closed; any other is',
    'interrupted and stays open. A task that has ended stays as it is.',
  ].join(' '),
  input: { job_id: jobId },
  async run({ job_id }, { client, signal }) {
    const { state, failure } = await client.cancelJob(job_id, { signal })
    const isCancelled = state === 'cancelled'
    const message = isCancelled ? `${job_id} is cancelled` : `${job_id} had ended before: ${failure ?? state}`
    return { success: isCancelled, message, job_id, state }
  },
})

export const reportResult = defineTool({
  name: 'report_result',
  title: 'Report the result of your task',
  description: [
    'Ends the task that you were given, with exactly this result; whoever gave it gets it at once. You need it only when your result is',
    'not simply your last message: to say that no change is needed, that you failed and why, or to hand over a result that stands',
    'apart from what you say. Otherwise just end your turn: your answer travels by itself. After it, end your turn.',
  ].join(' '),
  input: {
    result: z.string().min(1).describe('The whole result; of a failure, why'),
    status: z
      .enum(['done', 'no_change_needed', 'failed'])
      .default('done')
      .describe('`no_change_needed` is a result, too: you have looked, and all is as it should be'),
    job_id: jobId.optional().describe('Only needed when you were given several tasks'),
  },
  async run({ result, status, job_id }, context) {
    const { client, signal } = context
    const id = job_id ?? (await findOwnTask(context))
    const report = () => client.reportJob(id, { status, result }, { signal })
    const job = await askAgain(context, 'and your result was not reported', report)
    const message = job.is_open
      ? 'it is noted; the checks that were asked for are run when your turn has ended'
      : `${id} has ended: ${job.ending ?? job.state}`
    return { success: true, message, job_id: id, state: job.state }
  },
})

/** Errors: CONFLICT when it is not exactly one. */
async function findOwnTask(context: ToolContext): Promise<string> {
  const { client, signal, identity } = context
  const list = () => client.listJobs({ worker_id: identity.terminalId, state: 'open' }, { signal })
  const [only, ...others] = await askAgain(context, 'and your result was not reported', list)
  if (only === undefined)
    throw new AppError('CONFLICT', 'you have no open task: it has ended already, or you were given none')
  if (others.length === 0) return only.id
  const ids = [only, ...others].map(({ id, headline }) => `${id} (${headline})`).join(', ')
  throw new AppError('CONFLICT', `you have several open tasks, name one in job_id: ${ids}`)
}
