/**
 * One git command: argv words, no shell, a deadline, words in English. What a repository could make us run by itself is
 * switched off, since an agent that may only write files can write `.git/config`, too: hooks (a checkout of ours is nobody's
 * checkout), file monitors, transports (a partial clone fetches nothing), questions on a terminal, and the programs that
 * `withoutOwnPrograms` finds. Filters of the person's own configuration stay: without them (LFS) the files would be wrong.
 */
import type { Clock } from '../async/clock.ts'
import { runProcess } from '../process/run-process.ts'

export type GitContext = {
  readonly clock: Clock
  /** Environment of git; nothing in it that begins with GIT_ reaches it. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** More settings. */
  readonly config?: readonly Setting[]
}
type Setting = readonly [name: string, value: string]

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

const safeConfig: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['gc.auto', '0'],
  ['advice.detachedHead', 'false'],
]
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
  const result = await runProcess({
    clock,
    argv: ['git', ...args],
    cwd,
    env: { ...Object.fromEntries(own), ...fixedEnv, ...settingsEnv([...safeConfig, ...config]) },
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

/** Not by `-c`, which cuts at the first "=": a name may hold one. Source: git(1), GIT_CONFIG_COUNT. */
function settingsEnv(settings: readonly Setting[]): Readonly<Record<string, string>> {
  const pairs = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) }
}

export type SafeGit = { readonly kind: 'safe'; readonly git: GitContext; readonly filters: readonly string[] }
export type GitRefusal = Exclude<GitResult, { readonly kind: 'done' }>

const programSettings = String.raw`^(filter\..*\.(clean|smudge|process)|hook\..*\.(command|event))$`
/** A longer list is meant to be cut before its end. Units: bytes. */
const programNamesMax = 64 * 1_024
const nothingFoundCode = 1

/**
 * git that runs no filter and no hook which the repository's own configuration names, and the names of those filters. What holds can
 * depend on the working tree and its branch (`includeIf`, `config.worktree`): ask in the very directory that git will work
 * in. Errors: the signal's reason.
 */
export async function withoutOwnPrograms(git: GitContext, directory: string): Promise<SafeGit | GitRefusal> {
  const args = ['config', '--show-scope', '--null', '--name-only', '--get-regexp', programSettings]
  const found = await runGit(git, directory, args)
  if (found.kind === 'failed' && found.code === nothingFoundCode) return { kind: 'safe', git, filters: [] }
  if (found.kind !== 'done') return found
  if (Buffer.byteLength(found.out) > programNamesMax) {
    return { kind: 'failed', code: -1, why: 'its own configuration names too many filters and hooks' }
  }
  const words = found.out.split('\0')
  // Pairs: the scope, then the name.
  const own = words.filter((_, index) => index % 2 === 1 && ['local', 'worktree'].includes(words[index - 1] ?? ''))
  const places = [...new Set(own.map((name) => name.slice(0, name.lastIndexOf('.'))))]
  const filters = places.filter((place) => place.startsWith('filter.'))
  const off: readonly Setting[] = [
    ...filters.flatMap((filter): readonly Setting[] => [
      [`${filter}.clean`, ''],
      [`${filter}.smudge`, ''],
      [`${filter}.process`, ''],
      [`${filter}.required`, 'false'],
    ]),
    ...places.filter((place) => place.startsWith('hook.')).map((hook): Setting => [`${hook}.enabled`, 'false']),
  ]
  return { kind: 'safe', git: { ...git, config: off }, filters: filters.map((name) => name.slice('filter.'.length)) }
}
