/**
 * One git command: argv words, no shell, a deadline, words in English. What a repository could make us run by itself is
 * switched off: hooks (a checkout of ours is nobody's checkout), file monitors, questions on a terminal. Filters stay, for
 * without them (LFS) the files would be wrong; only the person's own configuration names them.
 */
import type { Clock } from '../async/clock.ts'
import { runProcess } from '../process/run-process.ts'

export type GitContext = {
  readonly clock: Clock
  /** Environment of git; nothing in it that begins with GIT_ reaches it. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
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
const fixedEnv = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', GIT_EDITOR: 'false', LC_ALL: 'C' }

/** Runs `git ARGS` in `cwd`. Errors: the signal's reason when it aborts. */
export async function runGit(
  { clock, env, signal }: GitContext,
  cwd: string,
  args: readonly string[],
  timeoutMs = quickLimitMs,
): Promise<GitResult> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith('GIT_'))
  const argv = ['git', ...safeConfig.flatMap((pair) => ['-c', pair]), ...args]
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
