/** What of a directory's repository matters to a worktree: where it is, what stands there, what would stay behind. */
import { realpath } from 'node:fs/promises'
import { relative } from 'node:path'
import { type GitContext, type GitResult, runGit } from './git.ts'

export type Repository = {
  /** Common directory (`.git` of the main working tree); the same for all worktrees of a repository. Absolute. */
  readonly gitDir: string
  /** Top of the working tree that the directory is in. */
  readonly topDir: string
  /** The directory below it; empty for the top. */
  readonly subDir: string
  readonly headCommit: string
  /** Branch that is checked out there; undefined: a detached HEAD. */
  readonly headBranch: string | undefined
}

export type FoundRepository =
  | { readonly kind: 'found'; readonly repository: Repository }
  | { readonly kind: 'none' }
  | { readonly kind: 'bare' }
  | { readonly kind: 'empty' }
  | Exclude<GitResult, { readonly kind: 'done' }>

/** Errors: the signal's reason. */
export async function findRepository(git: GitContext, directory: string): Promise<FoundRepository> {
  const places = await runGit(git, directory, ['rev-parse', '--path-format=absolute', '--git-common-dir'])
  if (places.kind === 'failed' && places.why.startsWith('not a git repository')) return { kind: 'none' }
  if (places.kind !== 'done') return places
  const top = await runGit(git, directory, ['rev-parse', '--show-toplevel'])
  if (top.kind === 'failed' && top.why.includes('must be run in a work tree')) return { kind: 'bare' }
  if (top.kind !== 'done') return top
  const head = await runGit(git, directory, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  if (head.kind === 'failed') return { kind: 'empty' }
  if (head.kind !== 'done') return head
  const branch = await runGit(git, directory, ['symbolic-ref', '--quiet', '--short', 'HEAD'])
  const topDir = chomp(top.out)
  const repository = {
    gitDir: chomp(places.out),
    topDir,
    subDir: relative(topDir, await realpath(directory)),
    headCommit: chomp(head.out),
    headBranch: branch.kind === 'done' ? chomp(branch.out) : undefined,
  }
  return { kind: 'found', repository }
}

/** A path may end with blanks: only git's own newline goes. */
export const chomp = (text: string): string => text.replace(/\n$/, '')

/**
 * Files that are changed or new and not ignored; a folder that is new as a whole counts as one. A submodule counts when another
 * commit is checked out in it: for more, git would run in it by a configuration that nobody has looked at.
 */
export async function countChanges(
  git: GitContext,
  directory: string,
): Promise<GitResult & { readonly count?: number }> {
  const args = [
    'status',
    '--porcelain=v1',
    '-z',
    '--untracked-files=normal',
    '--ignore-submodules=dirty',
    '--no-renames',
  ]
  const status = await runGit(git, directory, args)
  if (status.kind !== 'done') return status
  return { ...status, count: status.out.split('\0').filter((entry) => entry !== '').length }
}

/** Whether `path` (relative to the top, with "/") is a directory in this commit. */
export async function hasDirectory(
  git: GitContext,
  { topDir, headCommit }: Repository,
  path: string,
): Promise<boolean> {
  const type = await runGit(git, topDir, ['cat-file', '-t', `${headCommit}:${path}`])
  return type.kind === 'done' && chomp(type.out) === 'tree'
}
