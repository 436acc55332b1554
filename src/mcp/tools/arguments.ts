/** Arguments that several tools share, with the words an agent reads. */
import { z } from 'zod'

export const terminalId = z.string().regex(/^[a-f0-9]{8}$/, 'must be 8 hexadecimal digits')

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
  use_worktree: z
    .boolean()
    .optional()
    .describe(
      'Give the worker a git worktree of its own, with a new branch from your last commit (what is not committed is not in it): for workers that write beside others. You merge the branch; what it leaves is kept and told to you',
    ),
} as const
