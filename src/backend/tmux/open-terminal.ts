/**
 * Starting an agent in a new pane. Each step registers its undo; what is handed back is complete,
 * and after a refusal nothing of this call is left.
 *
 * tmux says ok for nearly everything, so directory and program are looked at before, and the
 * agent's own sign (its pid file) is waited for afterwards.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import type { Clock } from '../../async/clock.ts'
import { sleep } from '../../async/wait.ts'
import { AppError } from '../../domain/errors.ts'
import { type CreateOutcome, createPane } from '../../tmux/create-pane.ts'
import { readPane } from '../../tmux/panes.ts'
import { readProcessIdentity } from '../../tmux/process-identity.ts'
import type { Runner } from '../../tmux/runner.ts'
import type { OpenPlan } from '../backend.ts'
import { endTerminal } from './end-terminal.ts'
import { failedFault, unavailableFault } from './faults.ts'
import {
  discardLaunch,
  prepareLaunch,
  readAgentPid,
  readExit,
  sinkCommand,
  type TerminalFiles,
  wrapperArgv,
  writeWrapper,
} from './launch-files.ts'
import { logLength, readLog } from './output-log.ts'
import { tagOption } from './tmux-terminal.ts'

export const openLimits = {
  /** From the creation until the agent's process must have been started. */
  startedWithinMs: 5_000,
  /** An agent that ends within this time of its start counts as one that could not be started. */
  endedAtOnceMs: 100,
  pollMs: 5,
  /** From the end of such an agent until its last words must have come through the sink. */
  lastWordsLimitMs: 300,
  /** Another caller may make or end the session between our two tries. */
  sessionTriesMax: 6,
} as const

export type OpenedPane =
  | { readonly kind: 'opened'; readonly paneId: string }
  | {
      readonly kind: 'refused'
      readonly reason: 'cwd-missing' | 'program-missing' | 'ended-at-once'
      readonly detail: string
    }

export type OpenPaneOptions = {
  readonly clock: Clock
  readonly runner: Runner
  readonly files: TerminalFiles
  readonly plan: OpenPlan
  readonly isOwnServer: boolean
}

/** Errors: BACKEND_GONE, BACKEND_TIMEOUT, LAUNCH_FAILED. */
export async function openPane(options: OpenPaneOptions): Promise<OpenedPane> {
  const { clock, runner, files, plan } = options
  const missing = findMissing(plan)
  if (missing !== undefined) return missing
  await using undo = new AsyncDisposableStack()
  const { wasMade } = prepareLaunch(files, plan)
  undo.defer(() => discardLaunch(files, wasMade))
  const created = await createInSession(options)
  const tag = { option: tagOption, value: plan.terminalId }
  const target = { paneId: created.paneId, tag, pid: created.panePid }
  undo.defer(() => endTerminal({ clock, files, target, runner, graceMs: 0 }))
  const identity = await readProcessIdentity(clock, created.panePid)
  if (identity !== undefined) writeWrapper(files, identity)
  const ended = await waitForStart(options)
  if (ended !== undefined) return ended
  await requirePipe(runner, created.paneId)
  undo.move()
  return { kind: 'opened', paneId: created.paneId }
}

function findMissing(plan: OpenPlan): OpenedPane | undefined {
  const stat = existsSync(plan.cwd) ? statSync(plan.cwd) : undefined
  if (stat?.isDirectory() !== true) {
    return { kind: 'refused', reason: 'cwd-missing', detail: `${plan.cwd} is no directory` }
  }
  const program = plan.argv[0] ?? ''
  try {
    accessSync(program, constants.X_OK)
    if (statSync(program).isFile()) return undefined
  } catch {
    // Told below, in one sentence for a missing one and one that can not be run.
  }
  return { kind: 'refused', reason: 'program-missing', detail: `${program} is no program that can be run` }
}

type Created = Extract<CreateOutcome, { kind: 'created' }>

async function createInSession({ runner, files, plan, isOwnServer }: OpenPaneOptions): Promise<Created> {
  let isFirst = false
  for (let tries = 0; tries < openLimits.sessionTriesMax; tries++) {
    const outcome = await createPane(runner, {
      session: plan.sessionName,
      isFirst,
      windowName: plan.windowName,
      argv: wrapperArgv(files),
      cwd: plan.cwd,
      env: {},
      size: plan.size,
      tag: { option: tagOption, value: plan.terminalId },
      isOwnServer,
      sink: sinkCommand(files),
    })
    switch (outcome.kind) {
      case 'created':
        return outcome
      case 'session-exists':
        isFirst = false
        break
      case 'session-missing':
        isFirst = true
        break
      case 'failed':
        throw failedFault('create the pane', outcome.detail)
      case 'timed-out':
      case 'closed':
      case 'overloaded':
        // Should tmux create it later after all, the launch file is gone by then and no agent starts.
        throw unavailableFault(outcome)
    }
  }
  throw new AppError('LAUNCH_FAILED', `the tmux session ${plan.sessionName} comes and goes; try again`)
}

/** Undefined once the agent runs and has not ended at once. Errors: LAUNCH_FAILED when it never started. */
async function waitForStart({ clock, files }: OpenPaneOptions): Promise<OpenedPane | undefined> {
  const startMs = clock.monotonicMs()
  let startedMs: number | undefined
  for (;;) {
    const nowMs = clock.monotonicMs()
    const exit = readExit(files)
    // By the times of the two files, so that it does not matter how late we look.
    if (exit !== undefined && exit.atMs - startedAtMs(files) >= openLimits.endedAtOnceMs) return undefined
    if (exit !== undefined) {
      const said = await awaitLastWords(clock, files)
      const detail = `it ended at once with code ${exit.code}${said === '' ? '' : `: ${said}`}`
      return { kind: 'refused', reason: 'ended-at-once', detail }
    }
    if (readAgentPid(files) !== undefined) startedMs ??= nowMs
    if (startedMs !== undefined && nowMs - startedMs >= openLimits.endedAtOnceMs) return undefined
    if (startedMs === undefined && nowMs - startMs > openLimits.startedWithinMs) {
      throw new AppError('LAUNCH_FAILED', `the agent was not started within ${openLimits.startedWithinMs} ms`)
    }
    await sleep(clock, openLimits.pollMs)
  }
}

/** When the agent's process wrote its id; never where it did not come so far. */
function startedAtMs(files: TerminalFiles): number {
  return statSync(files.pid, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
}

async function awaitLastWords(clock: Clock, files: TerminalFiles): Promise<string> {
  const endMs = clock.monotonicMs() + openLimits.lastWordsLimitMs
  for (;;) {
    const said = await lastWords(files)
    if (said !== '' || clock.monotonicMs() >= endMs) return said
    await sleep(clock, openLimits.pollMs)
  }
}

async function lastWords(files: TerminalFiles): Promise<string> {
  const length = await logLength(files.log)
  const bytes = await readLog(files.log, Math.max(0, length - 500), 500)
  // eslint-disable-next-line no-control-regex
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replaceAll(/\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x09\x0b-\x1f]/g, '')
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 300)
}

async function requirePipe(runner: Runner, paneId: string): Promise<void> {
  const pane = await readPane(runner, paneId, tagOption)
  if (pane.kind === 'found' && !pane.facts.hasPipe) {
    throw new AppError('LAUNCH_FAILED', 'the output of the terminal can not be written to its log')
  }
}
