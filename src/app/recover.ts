/**
 * One procedure for every start: panes that carry our tag are matched with rows, each independently of the
 * others; what a row has and no pane is lost; what a pane has and no row is reported, not killed. A failure of
 * one is recorded on it and stops no other.
 */
import { sleep, type Waiting } from '../async/wait.ts'
import type { BackendFacts, FoundTerminal } from '../backend/backend.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Exit, PaneRef, Terminal } from '../domain/terminal.ts'
import { type AppContext, stepTerminal } from './context.ts'
import { noteLost } from './end-terminal.ts'
import { Runtime, type RuntimeListeners } from './runtime.ts'
import { terminalDirs } from './terminal-dirs.ts'

export type Recovery = {
  readonly adopted: readonly string[]
  readonly lost: readonly string[]
  /** Agents that had ended meanwhile. */
  readonly exited: readonly string[]
  readonly failed: readonly { readonly id: string; readonly why: string }[]
  /** Panes with our tag and no row. */
  readonly strangers: readonly string[]
  readonly tookMs: number
}

/** For the first looks at the screens; a terminal that takes longer is known later. */
const firstLooksLimitMs = 500
const lookEveryMs = 5

/** One that could not be adopted is tried again after each of these. */
const retryPausesMs = [1_000, 3_000, 10_000, 30_000, 60_000] as const

export type RecoverOptions = {
  readonly facts: BackendFacts
  readonly listeners: RuntimeListeners
  /** Carries a deletion that a crash cut short to its end. */
  readonly finishDeletion: (id: TerminalId) => Promise<void>
}

export async function recover(context: AppContext, options: RecoverOptions, waiting: Waiting): Promise<Recovery> {
  const { store, backend, clock, log } = context
  const startMs = clock.monotonicMs()
  const found = new Map((await backend.list(waiting)).map((pane) => [pane.terminalId, pane]))
  const rows = store.terminals.list()
  const known = new Set(rows.map((row) => row.id))
  const results = await Promise.all(
    rows.map((row) => recoverOne(context, { ...options, row, pane: found.get(row.id) })),
  )
  await awaitFirstLooks(context, waiting)
  const idsOf = (kind: Result['kind']) => results.filter((result) => result.kind === kind).map((result) => result.id)
  const recovery: Recovery = {
    adopted: idsOf('adopted'),
    lost: idsOf('lost'),
    exited: idsOf('exited'),
    failed: results.flatMap((result) => (result.kind === 'failed' ? [{ id: result.id, why: result.why }] : [])),
    strangers: [...found.keys()].filter((id) => !known.has(id)),
    tookMs: Math.round(clock.monotonicMs() - startMs),
  }
  if (recovery.strangers.length > 0)
    log.write('warn', 'panes with our tag and no row', { terminalIds: recovery.strangers })
  const { adopted, lost, failed, tookMs } = recovery
  store.setFact('last_recovery', JSON.stringify({ ...recovery, at: new Date(clock.nowMs()).toISOString() }))
  context.events.append(
    { type: 'recovery.finished', adopted: adopted.length, lost: lost.length, failed: failed.length, tookMs },
    clock.nowMs(),
  )
  return recovery
}

/** The doors open with true statuses, if they come soon. */
async function awaitFirstLooks({ clock, runtimes }: AppContext, waiting: Waiting): Promise<void> {
  const endMs = clock.monotonicMs() + firstLooksLimitMs
  const isUnknown = () => [...runtimes.values()].some(({ state }) => state.reason === 'starting')
  while (clock.monotonicMs() < endMs && isUnknown()) await sleep(clock, lookEveryMs, waiting.signal)
}

type Result =
  | { readonly kind: 'adopted' | 'lost' | 'exited' | 'left'; readonly id: TerminalId }
  | { readonly kind: 'failed'; readonly id: TerminalId; readonly why: string }

type Candidate = RecoverOptions & { readonly row: Terminal; readonly pane: FoundTerminal | undefined }

async function recoverOne(context: AppContext, candidate: Candidate): Promise<Result> {
  const { row, pane } = candidate
  const { id } = row
  try {
    if (row.life === 'exited' || row.life === 'lost') return { kind: 'left', id }
    if (row.life === 'deleting') {
      context.scope.spawn(`deletion of ${id}`, () => candidate.finishDeletion(id))
      return { kind: 'left', id }
    }
    if (pane === undefined) return { kind: await settleMissing(context, candidate), id }
    await adopt(context, candidate, pane)
    return { kind: 'adopted', id }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    context.log.write('error', 'terminal not recovered', { terminalId: id, error: why })
    context.scope.spawn(`recovery of ${id}`, (signal) => retry(context, candidate, signal))
    return { kind: 'failed', id, why }
  }
}

/** What failed once may succeed a little later: tmux was slow, descriptors were short. */
async function retry(context: AppContext, candidate: Candidate, signal: AbortSignal): Promise<void> {
  const { row } = candidate
  for (const pauseMs of retryPausesMs) {
    await sleep(context.clock, pauseMs, signal)
    const now = context.store.terminals.find(row.id)
    if (context.runtimes.has(row.id) || (now?.life !== 'live' && now?.life !== 'planned')) return
    try {
      const panes = await context.backend.list({ signal })
      const pane = panes.find((each) => each.terminalId === row.id)
      if (pane === undefined) await settleMissing(context, { ...candidate, row: now })
      else await adopt(context, { ...candidate, row: now }, pane)
      return context.log.write('info', 'terminal recovered at last', { terminalId: row.id })
    } catch (error) {
      context.log.write('error', 'terminal not recovered', { terminalId: row.id, error: String(error) })
    }
  }
}

/** Watches the agent of a row in its pane again. Errors: what keeps it from being watched; it is not watched then. */
export async function adopt(
  context: AppContext,
  candidate: Pick<Candidate, 'row' | 'listeners'>,
  pane: FoundTerminal,
): Promise<void> {
  const { row } = candidate
  // A crash between the pane and its row left the row `planned`: the pane proves that it was opened.
  if (row.life === 'planned') stepTerminal(context, row.id, 'open', { pane: pane.pane })
  await context.capabilities.load(terminalDirs(context.layout, row.id).dir, row.id)
  await watchAgent(context, candidate, pane.pane, (runtime) => runtime.start(true))
}

async function watchAgent(
  context: AppContext,
  { row, listeners }: Pick<Candidate, 'row' | 'listeners'>,
  pane: PaneRef,
  begin: (runtime: Runtime) => Promise<void>,
): Promise<Runtime> {
  const { store, providers, backend, runtimes } = context
  const provider = providers.get(row.provider)
  if (provider === undefined) throw new Error(`its provider ${row.provider} is not part of this version`)
  const live = store.terminals.find(row.id) ?? row
  const runtime = new Runtime(context, live, provider, { pane: backend.attach(row.id, pane), listeners })
  runtimes.set(row.id, runtime)
  try {
    await begin(runtime)
    return runtime
  } catch (error) {
    runtimes.delete(row.id)
    await runtime[Symbol.asyncDispose]()
    throw error
  }
}

/** Its pane is gone. What the agent told before its end still counts; then it has exited, if it said so, or is lost. */
async function settleMissing(context: AppContext, candidate: Candidate): Promise<'exited' | 'lost'> {
  const { row, facts, listeners } = candidate
  const { pane } = row
  const isOther = pane !== undefined && pane.instanceId !== facts.instanceId
  const reason = isOther ? 'the tmux server it ran on has ended' : 'its pane was gone when the server started'
  if (pane !== undefined) {
    try {
      const runtime = await watchAgent(context, candidate, pane, (each) => each.read())
      const exit = await knownExit(runtime)
      if (exit !== undefined) {
        listeners.onExited(runtime, exit)
        return 'exited'
      }
    } catch (error) {
      context.log.write('warn', 'records of a lost agent not read', { terminalId: row.id, error: String(error) })
    }
  }
  await noteLost(context, row, reason)
  return 'lost'
}

/** The end that the agent's wrapper wrote down; a handle knows it from its beginning. */
function knownExit(runtime: Runtime): Promise<Exit | undefined> {
  return Promise.race([runtime.pane.exited, Promise.resolve(undefined)])
}
