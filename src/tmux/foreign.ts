/**
 * A tmux server that is not ours: how it is told from one of ours, what must hold before anything
 * is created there, and the one session of ours that everything else hangs on. Its global options
 * belong to its user and are only looked at.
 */
import type { Clock } from '../async/clock.ts'
import { existingServerArgs, type ServerAddress } from './address.ts'
import { instanceOption } from './liveness.ts'
import { type ProgramResult, runProgram } from './run-program.ts'
import { type Runner, replyText, type Unavailable } from './runner.ts'
import { removeServerRecord } from './server-record.ts'
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

const commandLimitMs = 5_000

function runThere(clock: Clock, address: ServerAddress, args: readonly string[]): Promise<ProgramResult> {
  const all = [...existingServerArgs(address), ...args]
  return runProgram({ clock, file: address.tmux, args: all, env: address.env, timeoutMs: commandLimitMs })
}

/** One that we started carries our instance in a server option; every other running one is somebody else's. */
export async function isForeignServer(clock: Clock, address: ServerAddress): Promise<boolean> {
  const result = await runThere(clock, address, ['show-options', '-sqv', instanceOption])
  return result.kind === 'exited' && result.code === 0 && result.stdout.trim() === ''
}

/**
 * Our keeper session there, with our instance in an option of its own; the global ones stay as they are.
 * Returns the reason when that server would not keep our agents alive.
 */
export async function ensureGuestKeeper(
  clock: Clock,
  address: ServerAddress,
  instance: string,
): Promise<string | undefined> {
  const keeper = address.keeperSession
  const option = await runThere(clock, address, ['show-options', '-sv', 'exit-unattached'])
  if (option.kind === 'exited' && option.stdout.trim() === 'on') {
    const cure = 'set it off there, or let CAO use a server of its own'
    return `the tmux server at ${address.socketPath} has "exit-unattached on", which ends it with all agents when nobody is attached; ${cure}`
  }
  const has = await runThere(clock, address, ['has-session', '-t', `=${keeper}`])
  if (has.kind === 'exited' && has.code === 0) return undefined
  const commands = [
    ['new-session', '-d', '-s', keeper, '-x', '80', '-y', '24', '--', 'sleep', '2147483647'],
    ['set-option', '-t', `=${keeper}:`, 'destroy-unattached', 'off'],
    ['set-option', '-t', `=${keeper}:`, instanceOption, instance],
  ]
  const made = await runThere(
    clock,
    address,
    commands.flatMap((command) => [...command, ';']),
  )
  if (made.kind === 'exited' && made.code === 0) return undefined
  return `tmux did not make our session: ${made.kind === 'exited' ? made.stderr.trim() : made.kind}`
}

/** What we have set on a server that is not ours; all of it goes with our own sessions, windows and panes. */
export const guestChanges = [
  'our sessions: destroy-unattached off, and our instance on the keeper',
  'our windows: their size, automatic-rename off, allow-rename off',
  'our panes: remain-on-exit on, our tag and the mark of the last paste',
].join('; ')

/** Takes away what we still have there. Our agents' panes are ended before, each by its terminal. */
export async function leaveForeignServer(clock: Clock, address: ServerAddress): Promise<void> {
  await runThere(clock, address, ['kill-session', '-t', `=${address.keeperSession}`])
  removeServerRecord(address)
}
