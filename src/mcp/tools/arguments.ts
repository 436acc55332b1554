/** Arguments that several tools share, with the words an agent reads. */
import { z } from 'zod'

export const terminalId = z.string().regex(/^[a-f0-9]{8}$/, 'must be 8 hexadecimal digits')

/** The server starts workers one after the other when many are asked for. Units: ms. */
export const workerLimitMs = 15_000

export const jobId = z.string().regex(/^job-[a-f0-9]{16}$/, 'must be a job id such as job-0123456789abcdef')

export const delegation = {
  agent_profile: z
    .string()
    .min(1)
    .describe(
      'Name of the agent profile of the worker, such as "developer" or "reviewer"; `find_profiles` finds others',
    ),
  message: z
    .string()
    .min(1)
    .describe(
      'The whole task. The worker sees nothing of your conversation: name files by absolute paths and say what to give back',
    ),
  working_directory: z
    .string()
    .optional()
    .describe('Absolute path of the directory the worker starts in; your own when left out'),
  engine: z.string().optional().describe('Only for providers that offer a choice of engines'),
  model: z.string().optional().describe("Model of the worker; its profile's when left out"),
  request_key: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'A name of your own for this task. The same key again is the same job, whatever happened in between (your call timed out, the server was restarted): it is not done twice, and you get its result. Leave it out for a task that may be done again',
    ),
  reuse_idle: z
    .boolean()
    .optional()
    .describe(
      'Give it to an idle worker of yours with this profile and directory, if there is one, instead of a new one: quicker, and it remembers what it did before. It then stays open',
    ),
  checks: z
    .array(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]))
    .max(10)
    .optional()
    .describe(
      'Commands that must pass before the work counts as done, such as ["npm test"]; run in the worker\'s directory after its turn. If one fails the worker is told once and may go on, then the job has failed. Refused unless you may run commands without being asked',
    ),
  use_worktree: z
    .boolean()
    .optional()
    .describe(
      'Give the worker a git worktree of its own, with a new branch from your last commit (what is not committed is not in it): for workers that write beside others. You merge the branch; what it leaves is kept and told to you',
    ),
} as const
