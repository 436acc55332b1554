/**
 * Puts the use cases together and implements `App`. Start-up order: backend ready → recovery (panes matched with
 * rows) → outbox → open jobs. Until `start` has ended the server does not listen, so nobody meets half a CAO.
 */
import type { Clock } from '../async/clock.ts'
import { Scope } from '../async/scope.ts'
import { SerialQueue } from '../async/serial-queue.ts'
import { deadlineSignal } from '../async/wait.ts'
import type { BackendLost } from '../backend/backend.ts'
import type { RandomHex, TerminalId } from '../domain/ids.ts'
import { Ladder } from '../inbox/ladder.ts'
import type { Log } from '../lib/log.ts'
import { admit } from './admission.ts'
import { takeQuestion } from './allow-own-tool.ts'
import { beginAwayDigest, tellWhatHappened } from './away-digest.ts'
import { BackendGuard } from './backend-guard.ts'
import { Capabilities } from './capabilities.ts'
import type { AppContext, Shims } from './context.ts'
import type { ProfileDownload } from './download-profile.ts'
import { Deleter, noteExit, noteLost } from './end-terminal.ts'
import { EventStream } from './event-stream.ts'
import { releaseQueue } from './hold-queue.ts'
import { keepHouse } from './housekeeping.ts'
import { findIdleWorker } from './idle-worker.ts'
import { runChecks } from './job-checks.ts'
import type { JobDoors } from './job-doors.ts'
import { Jobs } from './jobs.ts'
import { LocalApp } from './local-app.ts'
import { queueMessage, tellSender } from './mailbox.ts'
import { watchObligations } from './obligations.ts'
import { Outbox } from './outbox.ts'
import { readOutput } from './output.ts'
import { ProfileLibrary } from './profile-library.ts'
import { recover } from './recover.ts'
import { relaunchAll } from './relaunch-terminal.ts'
import { sweepWorktrees } from './release-worktree.ts'
import type { RuntimeListeners } from './runtime.ts'
import { interruptTurn } from './send-input.ts'
import { closeIfEmpty } from './sessions.ts'
import { startWorker } from './start-worker.ts'
import { noteInterrupt } from './tell-interrupt.ts'
import { type NotifyOptions, PersonNotices } from './tell-person.ts'

export type AppOptions = Pick<
  AppContext,
  | 'store'
  | 'backend'
  | 'providers'
  | 'profiles'
  | 'skills'
  | 'launchDefaults'
  | 'limits'
  | 'team'
  | 'layout'
  | 'socketPath'
  | 'serverEnv'
> & {
  readonly clock: Clock
  readonly log: Log
  readonly random: RandomHex
  readonly shims: Shims
  /** Lost agents are taken up again without being asked: at the start, and after the backend's death. */
  readonly isRecoveryAutomatic: boolean
  readonly notify: NotifyOptions
  /** What ended longer ago is forgotten. Units: ms. */
  readonly retentionMs: number
  readonly downloadProfile: ProfileDownload
}

const recoveryLimitMs = 60_000
const worktreeEndsMax = 1_000

export type RunningApp = AsyncDisposable & { readonly app: LocalApp; readonly capabilities: Capabilities }

/** Starts everything and resolves when CAO is whole. Errors: BACKEND_GONE, SETUP_MISSING. Owns: dispose stops CAO and leaves every agent alone. */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const { store, clock, log, backend } = options
  await using stack = new AsyncDisposableStack()
  const events = new EventStream(store, log)
  const scope = stack.use(
    new Scope(clock, (name, error) => log.write('error', 'loop crashed', { name, error: String(error) })),
  )
  const ladder = new Ladder({ store, clock, log, announce: events.announce })
  const core = { ...options, events, ladder }
  const guard = new BackendGuard(core, backend)
  const context: AppContext = {
    ...core,
    guard,
    scope,
    capabilities: new Capabilities(),
    runtimes: new Map(),
    endings: new Map(),
    worktreeEnds: new SerialQueue('the ends of worktrees', worktreeEndsMax),
  }

  const deleter = new Deleter(context, (terminal) => {
    const why = `its worker ${terminal.id} was deleted`
    jobs.news.noteWorkerGone(terminal.id, { ending: 'worker_deleted', why })
    closeIfEmpty(context, terminal.sessionName)
  })
  const jobs: Jobs = new Jobs(context, {
    ...createJobDoors(context, deleter),
    startWorker: (start, waiting) => startWorker(context, { ...start, listeners, isAdmitted: true }, waiting),
  })
  const listeners = createListeners(context, jobs)
  stack.use(ladder.onMoved((message) => jobs.news.noteMessage(message)))
  stack.use(ladder.onMoved((message) => tellSender(context, message)))
  stack.use(followHung(events, jobs))
  const takeUp = () => {
    if (options.isRecoveryAutomatic)
      scope.spawn('recovery of lost agents', (signal) => takeUpLost(context, listeners, signal))
  }
  stack.use(followBackend(context, jobs, takeUp))
  stack.defer(() => closeRuntimes(context))

  const outbox = new Outbox(context)
  const facts = await guard.ensure()
  using limit = deadlineSignal(clock, recoveryLimitMs, 'the recovery of all terminals')
  beginAwayDigest(context)
  const notices = new PersonNotices(context, options.notify)
  const finishDeletion = (id: TerminalId) => deleter.delete(id, { signal: AbortSignal.timeout(recoveryLimitMs) })
  {
    // Nobody is promised anything before the doors open.
    using _quick = store.deferSync()
    await recover(context, { facts, listeners, finishDeletion }, limit)
    await outbox.ingest()
    jobs.resume()
  }
  scope.spawn('outbox', (signal) => outbox.follow(signal))
  notices.start(scope)
  takeUp()
  spawnChores(context, deleter, options.retentionMs)
  const app = new LocalApp(context, {
    jobs,
    notices,
    deleter,
    retentionMs: options.retentionMs,
    library: new ProfileLibrary({ ...context, download: options.downloadProfile }),
    listeners,
    startedAtMs: clock.nowMs(),
  })
  const owned = stack.move()
  return { app, capabilities: context.capabilities, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function followHung(events: EventStream, jobs: Jobs): Disposable {
  return events.onEvent((event) => {
    if (event.type === 'terminal.status_changed' && event.reason === 'hung') jobs.news.noteHung(event.terminalId)
  })
}

/** What goes on by itself, until the app is closed. */
function spawnChores(context: AppContext, deleter: Deleter, olderThanMs: number): void {
  const { scope } = context
  scope.spawn('worktrees', (signal) => sweepWorktrees(context, signal))
  scope.spawn('housekeeping', (signal) => keepHouse(context, { deleter, olderThanMs }, signal))
  scope.spawn('obligations', (signal) => watchObligations(context, signal))
  scope.spawn('digest of the absence', (signal) => tellWhatHappened(context, signal))
}

function createJobDoors(context: AppContext, deleter: Deleter): Omit<JobDoors, 'startWorker'> {
  return {
    admit: (sessionName, callerId) => admit(context, { sessionName, callerId }),
    findIdleWorker: (request) => findIdleWorker(context, request),
    queue: (message) => queueMessage(context, message),
    deleteTerminal: (id) => deleter.delete(id, { signal: AbortSignal.timeout(recoveryLimitMs) }),
    interrupt: (id) => interruptTurn(context, id, { signal: context.scope.signal }),
    runChecks: ({ workingDirectory: directory }, { request: { checks = [] } }, signal) =>
      runChecks(context, { checks, directory, signal }),
    readAnswer: (id, waiting) => readOutput(context, id, 'last', waiting),
  }
}

function createListeners(context: AppContext, jobs: Jobs): RuntimeListeners {
  return {
    onTurnEnded: (end) => jobs.news.noteTurnEnded(end),
    onAsked: (question) => takeQuestion(context, question),
    onInterrupted: (interrupt) => noteInterrupt(context, interrupt),
    onTyped: (id) => releaseQueue(context, id, 'person/pane'),
    onExited: (runtime, exit) => {
      const { id } = runtime.row
      const how = exit.signal ?? (exit.code === undefined ? 'ended from outside' : `exited with code ${exit.code}`)
      // An answer that came before the end was told by now: the jobs that are left have none.
      const endJobs = (lastLines: readonly string[]) =>
        jobs.news.noteWorkerGone(id, { ending: 'worker_exited', why: `its worker ${id} ${how}`, lastLines })
      context.scope.spawn(`exit of ${id}`, () => noteExit(context, runtime, exit, endJobs))
    },
  }
}

/** Owns: dispose ends it. */
function followBackend(context: AppContext, jobs: Jobs, takeUp: () => void): Disposable {
  const { backend, runtimes, scope } = context
  using stack = new DisposableStack()
  stack.use(
    backend.onLost((lost) =>
      scope.spawn('loss of the backend', async () => {
        await noteBackendLost(context, jobs, lost)
        takeUp()
      }),
    ),
  )
  stack.use(
    backend.onAnswering((isAnswering) => {
      for (const runtime of runtimes.values()) runtime.watch.noteAnswering(isAnswering)
    }),
  )
  return stack.move()
}

/** One event for the whole death, then all its terminals are lost at the same moment, with the reason. */
async function noteBackendLost(context: AppContext, jobs: Jobs, lost: BackendLost): Promise<void> {
  const { store, events, clock, backend, log, guard } = context
  guard.noteLost()
  const rows = store.terminals
    .list()
    .filter((row) => (row.life === 'live' || row.life === 'planned') && row.pane?.instanceId === lost.instanceId)
  log.write('error', 'backend lost', { instanceId: lost.instanceId, reason: lost.reason, terminals: rows.length })
  events.append(
    {
      type: 'backend.lost',
      backend: backend.name,
      instanceId: lost.instanceId,
      reason: lost.reason,
      terminalCount: rows.length,
    },
    clock.nowMs(),
  )
  await Promise.all(rows.map((row) => noteLost(context, row, lost.reason)))
  for (const { id } of rows) {
    jobs.news.noteWorkerGone(id, { ending: 'worker_lost', why: `its worker ${id} was lost: ${lost.reason}` })
  }
  // Started again at once, so that nothing has to wait for it later; a failure is tried again by the next launch.
  await guard
    .ensure()
    .catch((error: unknown) => log.write('error', 'backend not started again', { error: String(error) }))
}

async function takeUpLost(context: AppContext, listeners: RuntimeListeners, signal: AbortSignal): Promise<void> {
  const outcome = await relaunchAll(context, { listeners, env: {}, clientEnv: undefined }, { signal })
  for (const { id, error } of outcome.errors)
    context.log.write('warn', 'lost agent not taken up', { terminalId: id, error })
}

async function closeRuntimes(context: AppContext): Promise<void> {
  const runtimes = [...context.runtimes.values()]
  context.runtimes.clear()
  await Promise.all(runtimes.map((runtime) => runtime[Symbol.asyncDispose]()))
}
