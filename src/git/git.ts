/**
 * One git command: argv words, no shell, a deadline, words in English. What a repository could make us run by itself is
 * switched off, since an agent that may only write files can write `.git/config`, too: hooks (a checkout of ours is nobody's
 * checkout), file monitors, transports (a partial clone fetches nothing), questions on a terminal, and the filters that
 * `withoutOwnFilters` finds. Filters of the person's own configuration stay: without them (LFS) the files would be wrong.
 */
import type { Clock } from '../async/clock.ts'
import { runProcess } from '../process/run-process.ts'

export type GitContext = {
  readonly clock: Clock
  /** Environment of git; nothing in it that begins with GIT_ reaches it. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** More settings, `name=value`. */
  readonly config?: readonly string[]
}

export type GitResult =
  | { readonly kind: 'done'; readonly out: string }
  /** git said no. */
  | { readonly kind: 'failed'; readonly code: number; readonly why: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'timed-out'; readonly afterMs: number }

/** A large repository on a slow disk; every other command is quick. Units: ms. */
export const checkoutLimitMs = 120_000
const quickLimitMs = 30_000
const whyLengthMax = 600
const notFoundCode = 127

const safeConfig = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'gc.auto=0', 'advice.detachedHead=false']
const fixedEnv = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_EDITOR: 'false',
  // No protocol is called so.
  GIT_ALLOW_PROTOCOL: 'none',
  LC_ALL: 'C',
}

/** Runs `git ARGS` in `cwd`. Errors: the signal's reason when it aborts. */
export async function runGit(
  { clock, env, signal, config = [] }: GitContext,
  cwd: string,
  args: readonly string[],
  timeoutMs = quickLimitMs,
): Promise<GitResult> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith('GIT_'))
  const argv = ['git', ...[...safeConfig, ...config].flatMap((pair) => ['-c', pair]), ...args]
  const result = await runProcess({
    clock,
    argv,
    cwd,
    env: { ...Object.fromEntries(own), ...fixedEnv },
    timeoutMs,
    signal,
  })
  switch (result.kind) {
    case 'aborted':
      throw result.reason
    case 'not-started':
      return { kind: 'failed', code: -1, why: result.detail }
    case 'timed-out':
      return { kind: 'timed-out', afterMs: result.afterMs }
    case 'exited':
      if (result.code === 0) return { kind: 'done', out: result.stdout }
      if (result.code === notFoundCode) return { kind: 'missing' }
      return { kind: 'failed', code: result.code, why: describe(result.stderr) }
  }
}

/** The first complaint, as a sentence. */
function describe(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const complaint = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? 'it did not say why'
  return complaint.replace(/^(fatal|error): /, '').slice(0, whyLengthMax)
}

export type SafeGit = { readonly git: GitContext; readonly filters: readonly string[] }

/** git that runs no filter which the repository's own configuration names, and the names of those. Errors: the signal's reason. */
export async function withoutOwnFilters(git: GitContext, directory: string): Promise<SafeGit> {
  const args = ['config', '--show-scope', '--null', '--get-regexp', String.raw`^filter\..*\.(clean|smudge|process)$`]
  const found = await runGit(git, directory, args)
  if (found.kind !== 'done') return { git, filters: [] }
  const words = found.out.split('\0')
  // Pairs: the scope, then the name, a newline and the value.
  const own = words.filter((_, index) => index % 2 === 1 && ['local', 'worktree'].includes(words[index - 1] ?? ''))
  const filters = [...new Set(own.map((word) => word.split('\n')[0]?.replace(/^filter\.|\.[^.]*$/g, '') ?? ''))]
  const off = filters.flatMap((name) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].map((setting) => `filter.${name}.${setting}`),
  )
  return { git: { ...git, config: off }, filters }
}
