/**
 * Worktrees of one repository, by its git directory: made with a branch of their own, looked into, taken away. Nothing here
 * takes away what holds work, but for `forceRemove`, whose caller knows that there is none or was told to.
 */
import { rm, stat } from 'node:fs/promises'
import { checkoutLimitMs, type GitContext, type GitResult, runGit, withoutOwnFilters } from './git.ts'
import { chomp, countChanges } from './repository.ts'

export type WorktreePlace = {
  readonly gitDir: string
  readonly path: string
  readonly branch: string
  /** Where the branch began. */
  readonly baseCommit: string
}

const refOf = (branch: string): string => `refs/heads/${branch}`
const inRepository = (gitDir: string, ...args: readonly string[]): readonly string[] => [`--git-dir=${gitDir}`, ...args]

/** Undefined: there is no such branch. Errors: the signal's reason. */
export async function findBranch(git: GitContext, gitDir: string, branch: string): Promise<string | undefined> {
  const args = inRepository(gitDir, 'rev-parse', '--verify', '--quiet', `${refOf(branch)}^{commit}`)
  const found = await runGit(git, gitDir, args)
  return found.kind === 'done' ? chomp(found.out) : undefined
}

/** Makes directory and branch; `path` must not exist yet. */
export function addWorktree(git: GitContext, { gitDir, path, branch, baseCommit }: WorktreePlace): Promise<GitResult> {
  // Without --no-track a person's branch.autoSetupMerge would make `git push` of the agent go to their branch.
  const args = ['worktree', 'add', '--quiet', '--no-track', '-b', branch, '--', path, baseCommit]
  return runGit(git, gitDir, inRepository(gitDir, ...args), checkoutLimitMs)
}

export type WorktreeContent = {
  readonly kind: 'content'
  /** False: somebody removed the directory. */
  readonly isThere: boolean
  readonly changedFiles: number
  /** Commits on its branch or its HEAD that no other branch, remote or tag has. */
  readonly commitsAhead: number
  /** What is checked out there; undefined when HEAD is detached or the directory is gone. */
  readonly headBranch: string | undefined
  /** Undefined: the branch is gone. */
  readonly branchCommit: string | undefined
}

/** Looks, and changes nothing. Errors: the signal's reason. */
export async function inspectWorktree(
  plainGit: GitContext,
  place: WorktreePlace,
): Promise<WorktreeContent | Exclude<GitResult, { kind: 'done' }>> {
  const { gitDir, path, branch } = place
  const { git } = await withoutOwnFilters(plainGit, gitDir)
  const isThere = (await stat(path).catch(() => undefined))?.isDirectory() === true
  const changes = isThere ? await countChanges(git, path) : undefined
  if (changes !== undefined && changes.kind !== 'done') return changes
  const head = isThere ? await runGit(git, path, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']) : undefined
  if (head !== undefined && head.kind !== 'done') return head
  const named = isThere ? await runGit(git, path, ['symbolic-ref', '--quiet', '--short', 'HEAD']) : undefined
  const headBranch = named?.kind === 'done' ? chomp(named.out) : undefined
  const branchCommit = await findBranch(git, gitDir, branch)
  const tips = [head?.kind === 'done' ? chomp(head.out) : undefined, branchCommit].filter((tip) => tip !== undefined)
  const ahead = await countAhead(git, place, {
    tips,
    except: [branch, ...(headBranch === undefined ? [] : [headBranch])],
  })
  if (ahead.kind !== 'done') return ahead
  const changedFiles = changes?.count ?? 0
  return { kind: 'content', isThere, changedFiles, commitsAhead: Number(chomp(ahead.out)), headBranch, branchCommit }
}

type Tips = { readonly tips: readonly string[]; readonly except: readonly string[] }

async function countAhead(
  git: GitContext,
  { gitDir, baseCommit }: WorktreePlace,
  { tips, except }: Tips,
): Promise<GitResult> {
  if (tips.length === 0) return { kind: 'done', out: '0' }
  // What is already in any other place of the repository is not lost with this one. A branch's name holds no pattern
  // (git-check-ref-format).
  const others = [...except.map((name) => `--exclude=${name}`), '--branches', '--remotes', '--tags']
  const args = ['rev-list', '--count', ...tips, '--not', baseCommit, ...others]
  return runGit(git, gitDir, inRepository(gitDir, ...args))
}

/** Removes a directory that git itself finds clean. */
export async function removeClean(plainGit: GitContext, { gitDir, path }: WorktreePlace): Promise<GitResult> {
  const { git } = await withoutOwnFilters(plainGit, gitDir)
  return runGit(git, gitDir, inRepository(gitDir, 'worktree', 'remove', '--', path), checkoutLimitMs)
}

/** Deletes the branch if it still stands at `commit`: what was committed since then is kept. */
export function deleteBranch(git: GitContext, { gitDir, branch }: WorktreePlace, commit: string): Promise<GitResult> {
  return runGit(git, gitDir, inRepository(gitDir, 'update-ref', '-d', refOf(branch), commit))
}

/**
 * Removes the directory with all that is in it, also one that is half made, and git's record of it. Of the records of other
 * worktrees none is touched: `git worktree prune` would drop those whose disk is not mounted just now.
 */
export async function forceRemove(git: GitContext, { gitDir, path }: WorktreePlace): Promise<GitResult> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  const removed = await runGit(
    git,
    gitDir,
    inRepository(gitDir, 'worktree', 'remove', '--force', '--force', '--', path),
  )
  const isUnknown = removed.kind === 'failed' && removed.why.includes('is not a working tree')
  return isUnknown ? { kind: 'done', out: '' } : removed
}

/** Whether somebody locked it (`git worktree lock`). */
export async function isLocked(git: GitContext, { gitDir, path }: WorktreePlace): Promise<boolean> {
  const list = await runGit(git, gitDir, inRepository(gitDir, 'worktree', 'list', '--porcelain', '-z'))
  if (list.kind !== 'done') return false
  const record = list.out.split('\0\0').find((entry) => entry.split('\0').includes(`worktree ${path}`))
  return record?.split('\0').some((line) => line === 'locked' || line.startsWith('locked ')) === true
}
