/** Worktrees on the wire, and the set-up that a project names for them. */
import { z } from 'zod'
import { type Worktree, type WorktreeWork, worktreeStates } from '../domain/worktree.ts'
import { flagField, pathLengthMax, terminalIdField, timeField, toTime } from './fields.ts'

/** As it stands in its terminal. */
export const ownWorktreeSchema = z
  .object({
    path: z.string(),
    branch: z.string(),
    /** Branch that it was made from; null: a detached HEAD. */
    base_branch: z.string().nullable(),
    base_commit: z.string(),
    state: z.enum(worktreeStates),
    /** Why it was kept, or what is wrong with it. */
    detail: z.string().nullable(),
    /** What was not carried over, or not run. */
    notes: z.array(z.string()),
  })
  .meta({ id: 'OwnWorktree' })
export type OwnWorktreeBody = z.infer<typeof ownWorktreeSchema>

export const worktreeSchema = ownWorktreeSchema
  .extend({
    terminal_id: terminalIdField,
    agent_profile: z.string(),
    caller_id: z.string().nullable(),
    /** Git's directory of the repository. */
    repository: z.string(),
    source_directory: z.string(),
    /** Null: git could not tell. */
    changed_files: z.number().int().nullable(),
    commits_ahead: z.number().int().nullable(),
    /** Terminals that are there and work in it. */
    used_by: z.array(terminalIdField),
    created_at: timeField,
  })
  .meta({ id: 'Worktree' })
export type WorktreeBody = z.infer<typeof worktreeSchema>

export const listWorktreesQuery = z.object({
  /** False: do not ask git; what each holds is null then. */
  look: flagField.default(true),
})

export const removeWorktreeQuery = z.object({
  /** Also with what is in it. Only a person may. */
  force: flagField.default(false),
})

const directoryField = z
  .string()
  .min(1)
  .max(pathLengthMax)
  .refine((path) => !path.includes('\0'), 'must not hold a NUL')
export const setupQuery = z.object({ directory: directoryField })
export const trustSetupBody = z.object({
  directory: directoryField,
  /** Of the file that is allowed; null takes the permission back. */
  digest: z
    .string()
    .max(64)
    .regex(/^[a-f0-9]{64}$/, 'must be 64 hexadecimal digits')
    .nullable(),
})

export const setupSchema = z
  .object({
    repository: z.string(),
    /** Null: the project names no set-up. */
    file: z.string().nullable(),
    argv: z.array(z.string()),
    timeout_s: z.number().nullable(),
    digest: z.string().nullable(),
    is_allowed: z.boolean(),
  })
  .meta({ id: 'WorktreeSetup' })
export type SetupBody = z.infer<typeof setupSchema>

export function toOwnWorktreeBody(worktree: Worktree): OwnWorktreeBody {
  const { path, branch, baseBranch, baseCommit, state, detail, notes } = worktree
  const base = { base_branch: baseBranch ?? null, base_commit: baseCommit }
  return { path, branch, ...base, state, detail: detail ?? null, notes: [...notes] }
}

type View = {
  readonly worktree: Worktree
  readonly work: WorktreeWork | undefined
  readonly usedBy: readonly string[]
}

export function toWorktreeBody({ worktree, work, usedBy }: View): WorktreeBody {
  return {
    ...toOwnWorktreeBody(worktree),
    terminal_id: worktree.terminalId,
    agent_profile: worktree.profileName,
    caller_id: worktree.callerId ?? null,
    repository: worktree.gitDir,
    source_directory: worktree.sourceDir,
    changed_files: work?.changedFiles ?? null,
    commits_ahead: work?.commitsAhead ?? null,
    used_by: [...usedBy],
    created_at: toTime(worktree.createdAtMs),
  }
}
