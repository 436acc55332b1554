/**
 * Exact targets. A bare name matches by prefix and by pattern (`kill-session -t proj` has killed
 * `proj2`), so every command of ours takes an id, or a name with `=` before it.
 * Source: tmux(1), COMMANDS (target-session).
 */
import { assert } from '../lib/assert.ts'
import { quote } from './quote.ts'

/** `%12`. Errors: AssertionFault for anything else. */
export function paneTarget(paneId: string): string {
  assert(/^%\d{1,10}$/.test(paneId), `not a pane id: ${paneId}`)
  return paneId
}

/** `@3`. Errors: AssertionFault for anything else. */
export function windowTarget(windowId: string): string {
  assert(/^@\d{1,10}$/.test(windowId), `not a window id: ${windowId}`)
  return windowId
}

/** The session of exactly that name. Errors: AssertionFault for a name that tmux would rewrite or split. */
export function sessionTarget(name: string): string {
  assertSessionName(name)
  return quote(`=${name}`)
}

/** The window of exactly that name in the session of exactly that name. */
export function namedWindowTarget(session: string, window: string): string {
  assertSessionName(session)
  assert(/^[A-Za-z0-9_-]+$/.test(window), `not a plain window name: ${window}`)
  return quote(`=${session}:=${window}`)
}

/** tmux turns `.` and `:` in session names into `_`, and reads other signs as patterns. */
export function assertSessionName(name: string): void {
  assert(/^[A-Za-z0-9_-]{1,200}$/.test(name), `not a plain session name: ${name}`)
}
