/** handoff: delegate and wait for the answer. */
import { z } from 'zod'
import { findWorktree, startJob, waitForEnd } from '../delegate.ts'
import { defineTool } from '../tool.ts'
import { delegation } from './arguments.ts'

export const handoff = defineTool({
  name: 'handoff',
  title: 'Hand a task off and wait for the answer',
  description: [
    'Starts a new agent, gives it one task, WAITS until it is done and returns its answer in `output`; the agent is then closed.',
    'Use it when your next step needs the result. For work that can run beside yours use `assign`: several assigned',
    'workers run at once. To an agent that runs already, and knows its context, use `send_message`. You may also call handoff several times in parallel. On failure `success` is false, `message`',
    'says why, and `terminal_id` names the worker, which is then left open to be looked at.',
  ].join(' '),
  input: {
    ...delegation,
    timeout: z.number().int().min(1).max(3_600).default(600).describe('How long the worker may take, in seconds'),
  },
  async run({ timeout, ...task }, context) {
    const started = await startJob(context, { kind: 'handoff', timeout, ...task })
    const place = task.use_worktree === true ? await findWorktree(context, started) : {}
    const job = await waitForEnd(context, started, timeout * 1_000)
    const where = job.terminal_id === null ? '' : ` (terminal ${job.terminal_id})`
    const isDone = job.state === 'answered'
    const message = isDone
      ? `${job.agent_profile} has answered${where}`
      : `${job.agent_profile} did not answer${where}: ${job.failure ?? job.state}`
    return { success: isDone, message, output: job.output, terminal_id: job.terminal_id, job_id: job.id, ...place }
  },
})
