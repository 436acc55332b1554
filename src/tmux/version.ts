/**
 * Which tmux is installed, and whether it is new enough.
 */

import type { Clock } from '../async/clock.ts'
import { runProgram } from './run-program.ts'

/** `letter` is '' for 3.4, 'a' for 3.3a; a development build counts as the release it leads to. */
export type TmuxVersion = {
  readonly major: number
  readonly minor: number
  readonly letter: string
  readonly text: string
}

export type VersionProbe =
  | { readonly kind: 'ok'; readonly version: TmuxVersion }
  | { readonly kind: 'too-old'; readonly version: TmuxVersion; readonly minimum: string }
  | { readonly kind: 'missing'; readonly detail: string }
  | { readonly kind: 'unreadable'; readonly detail: string }

/** The first with -N and the control-mode flags that we use. */
export const minimumVersionText = '3.2a'
const probeLimitMs = 5_000

/** Reads the output of `tmux -V`, as `tmux 3.3a`, `tmux next-3.8` or `tmux openbsd-7.5`; undefined when it names no version. */
export function parseVersion(output: string): TmuxVersion | undefined {
  const match = /^tmux (?:next-)?(\d{1,3})\.(\d{1,3})([a-z]?)(?:-rc\d*)?\s*$/.exec(output)
  if (match !== null) {
    const [, major, minor, letter = ''] = match
    return { major: Number(major), minor: Number(minor), letter, text: output.trim().slice('tmux '.length) }
  }
  // A build from the development branch has no number: newer than every release.
  const branch = /^tmux (master|openbsd-[\d.]+)\s*$/.exec(output)
  return branch === null ? undefined : { major: 999, minor: 0, letter: '', text: branch[1] ?? '' }
}

/** Negative, 0 or positive as `a` is older than, the same as or newer than `b`. */
export function compareVersions(a: TmuxVersion, b: TmuxVersion): number {
  return a.major - b.major || a.minor - b.minor || (a.letter < b.letter ? -1 : a.letter > b.letter ? 1 : 0)
}

/** Judges the output of `tmux -V`. */
export function judgeVersion(output: string): VersionProbe {
  const version = parseVersion(output)
  const minimum = parseVersion(`tmux ${minimumVersionText}`)
  if (version === undefined || minimum === undefined) return { kind: 'unreadable', detail: output.trim().slice(0, 200) }
  if (compareVersions(version, minimum) < 0) return { kind: 'too-old', version, minimum: minimumVersionText }
  return { kind: 'ok', version }
}

/** Asks the program `tmux` (a name or a path) for its version. */
export async function probeVersion(
  clock: Clock,
  tmux: string,
  env: Readonly<Record<string, string>>,
): Promise<VersionProbe> {
  const result = await runProgram({ clock, file: tmux, args: ['-V'], env, timeoutMs: probeLimitMs })
  switch (result.kind) {
    case 'exited':
      return result.code === 0 ? judgeVersion(result.stdout) : { kind: 'unreadable', detail: result.stderr }
    case 'not-started':
      return { kind: 'missing', detail: result.detail }
    case 'timed-out':
      return { kind: 'unreadable', detail: `no answer within ${probeLimitMs} ms` }
  }
}
