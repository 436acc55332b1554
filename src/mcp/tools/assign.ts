/** assign: delegate and go on; the answer comes through the inbox. */
import { findWorktree, startJob, waitForWorker } from '../delegate.ts'
import { defineTool } from '../tool.ts'
import { delegation, workerLimitMs } from './arguments.ts'

export const assign = defineTool({
  name: 'assign',
  title: 'Assign a task and go on',
  description: [
    'Starts a new agent, gives it one task and returns AT ONCE with its `terminal_id`. When it is done its answer is',
    'typed to you as a message; so is the news if it fails. Use it for work that can run beside yours: assign all tasks',
    'first, then do your own part, or end your turn to let the answers in. Do not poll and do not sleep: messages reach you',
    'only between your turns. The agent stays open for more (`send_message`) until you close it with `delete_terminal`.',
    'When your next step needs the result, use `handoff` instead.',
  ].join(' '),
  input: delegation,
  async run(task, context) {
    const started = await startJob(context, { kind: 'assign', ...task })
    const job = await waitForWorker(context, started, workerLimitMs)
    const hasFailed = !job.is_open && job.state !== 'answered'
    const message = hasFailed
      ? `${job.agent_profile} could not be given the task: ${job.failure ?? job.state}`
      : `${job.agent_profile} has the task; its answer will come to you as a message between your turns`
    const place = task.use_worktree === true ? await findWorktree(context, job) : {}
    return { success: !hasFailed, terminal_id: job.terminal_id, message, job_id: job.id, ...place }
  },
})
