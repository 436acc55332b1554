/** handoff: delegate and wait for the answer. */
import { z } from 'zod'
import { describeWork, findWorktree, startJob, tellEnd, waitForEnd, waitForWorker } from '../delegate.ts'
import { defineTool } from '../tool.ts'
import { delegation, workerLimitMs } from './arguments.ts'

export const handoff = defineTool({
  name: 'handoff',
  title: 'Hand a task off and wait for the answer',
  description: [
    'Starts a new agent, gives it one task, WAITS until it is done and returns its answer in `output`; the agent is then closed.',
    'Use it when your next step needs the result. For work that can run beside yours use `assign`: several assigned',
    'workers run at once. You may also call handoff several times in parallel. On failure `success` is false, `message`',
    'says why, and `terminal_id` names the worker, which is then left open to be looked at. For long work give a',
    '`request_key`: if your call is cut off, call again with the same key, or fetch it with `job_result`. With `wait` false',
    'it returns at once with a `job_id`; the result comes to you as a message, or is fetched with `job_result`.',
  ].join(' '),
  input: {
    ...delegation,
    timeout: z.number().int().min(1).max(3_600).default(600).describe('How long the worker may take, in seconds'),
    wait: z.boolean().default(true).describe('False: return at once, and fetch the result later'),
  },
  async run({ timeout, wait, ...task }, context) {
    const unattended = wait ? {} : { unattended: true }
    const started = await startJob(context, { kind: 'handoff', timeout, ...task, ...unattended })
    const place = task.use_worktree === true ? await findWorktree(context, started) : {}
    if (wait) return { ...tellEnd(await waitForEnd(context, started, timeout * 1_000)), ...place }
    const job = await waitForWorker(context, started, workerLimitMs)
    if (!job.is_open) return { ...tellEnd(job), ...place }
    const message = `${describeWork(job)}; its result comes to you as a message, or ask for it with job_result`
    return { success: true, message, output: null, terminal_id: job.terminal_id, job_id: job.id, ...place }
  },
})
