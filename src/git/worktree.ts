/**
 * Worktrees of one repository, by its git directory: made with a branch of their own, looked into, taken away. Nothing here
 * takes away what holds work, but for `forceRemove`, whose caller knows that there is none or was told to.
 */
import { rm, stat } from 'node:fs/promises'
import { checkoutLimitMs, type GitContext, type GitRefusal, type GitResult, runGit, withoutOwnPrograms } from './git.ts'
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

/** git at work in `directory`, with nothing run that its configuration names. Errors: the signal's reason. */
async function runSafely(
  plainGit: GitContext,
  directory: string,
  args: readonly string[],
  timeoutMs?: number,
): Promise<GitResult> {
  const safe = await withoutOwnPrograms(plainGit, directory)
  return safe.kind === 'safe' ? runGit(safe.git, directory, args, timeoutMs) : safe
}

export type AddedWorktree =
  /** The filters of the repository's own configuration that were not run. */
  { readonly kind: 'added'; readonly filters: readonly string[] } | GitRefusal

/** Makes directory and branch; `path` must not exist yet. Errors: the signal's reason. */
export async function addWorktree(
  git: GitContext,
  { gitDir, path, branch, baseCommit }: WorktreePlace,
): Promise<AddedWorktree> {
  // Without --no-track a person's branch.autoSetupMerge would make `git push` of the agent go to their branch.
  const flags = ['--quiet', '--no-track', '--no-checkout', '-b', branch]
  const made = await runSafely(
    git,
    gitDir,
    inRepository(gitDir, 'worktree', 'add', ...flags, '--', path, baseCommit),
    checkoutLimitMs,
  )
  if (made.kind !== 'done') return made
  // Only in the new working tree on its branch can be seen what would be run there.
  const safe = await withoutOwnPrograms(git, path)
  if (safe.kind !== 'safe') return safe
  const reset = ['reset', '--quiet', '--hard', '--no-recurse-submodules']
  const filled = await runGit(safe.git, path, reset, checkoutLimitMs)
  return filled.kind === 'done' ? { kind: 'added', filters: safe.filters } : filled
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
): Promise<WorktreeContent | GitRefusal> {
  const { gitDir, path, branch } = place
  const isThere = (await stat(path).catch(() => undefined))?.isDirectory() === true
  const safe = await withoutOwnPrograms(plainGit, isThere ? path : gitDir)
  if (safe.kind !== 'safe') return safe
  const { git } = safe
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
  // git looks into the working tree once more, with what holds there.
  const safe = await withoutOwnPrograms(plainGit, path)
  if (safe.kind !== 'safe') return safe
  return runGit(safe.git, gitDir, inRepository(gitDir, 'worktree', 'remove', '--', path), checkoutLimitMs)
}

/** Deletes the branch if it still stands at `commit`: what was committed since then is kept. */
export function deleteBranch(git: GitContext, { gitDir, branch }: WorktreePlace, commit: string): Promise<GitResult> {
  return runSafely(git, gitDir, inRepository(gitDir, 'update-ref', '-d', refOf(branch), commit))
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
