/**
 * A tmux server that is not ours: what must hold before anything is created there. Its global
 * options belong to its user and are only looked at.
 */
import { type Runner, replyText, type Unavailable } from './runner.ts'
import { compareVersions, parseVersion, type TmuxVersion } from './version.ts'

export type ForeignCheck =
  | { readonly kind: 'usable' }
  | { readonly kind: 'refused'; readonly detail: string }
  | Unavailable

/** A global `window-size manual` ends these at the next creation: 3.3a, 3.4, 3.5a and 3.6b were seen to. */
export function diesOfManualSize(version: TmuxVersion): boolean {
  const first = parseVersion('tmux 3.3')
  const fixed = parseVersion('tmux 3.7')
  if (first === undefined || fixed === undefined) return true
  return compareVersions(version, first) >= 0 && compareVersions(version, fixed) < 0
}

/** To be asked before EACH creation on a foreign server: its user may set the option at any time. */
export async function checkForeignServer(runner: Runner, version: TmuxVersion): Promise<ForeignCheck> {
  const outcome = await runner.run('show-options -gwv window-size')
  if (outcome.kind !== 'replied') return outcome
  if (replyText(outcome.replies[0]) !== 'manual' || !diesOfManualSize(version)) return { kind: 'usable' }
  const cure = 'set it to "latest" there, or let CAO use a server of its own'
  return {
    kind: 'refused',
    detail: `that tmux server has the global option "window-size manual", which ends tmux ${version.text} when a window is created; ${cure}`,
  }
}
