/**
 * One procedure for every start: panes that carry our tag are matched with rows, each independently of the
 * others; what a row has and no pane is lost; what a pane has and no row is reported, not killed. A failure of
 * one is recorded on it and stops no other.
 */
import type { Waiting } from '../async/wait.ts'
import type { BackendFacts, FoundTerminal } from '../backend/backend.ts'
import type { Terminal } from '../domain/terminal.ts'
import { type AppContext, stepTerminal } from './context.ts'
import { noteLost } from './end-terminal.ts'
import { Runtime, type RuntimeListeners } from './runtime.ts'
import { terminalDirs } from './terminal-dirs.ts'

export type Recovery = {
  readonly adopted: readonly string[]
  readonly lost: readonly string[]
  readonly failed: readonly { readonly id: string; readonly why: string }[]
  /** Panes with our tag and no row. */
  readonly strangers: readonly string[]
  readonly tookMs: number
}

export async function recover(
  context: AppContext,
  facts: BackendFacts,
  listeners: RuntimeListeners,
  waiting: Waiting,
): Promise<Recovery> {
  const { store, backend, clock, log } = context
  const startMs = clock.monotonicMs()
  const found = new Map((await backend.list(waiting)).map((pane) => [pane.terminalId, pane]))
  const rows = store.terminals.list()
  const known = new Set(rows.map((row) => row.id))
  const results = await Promise.all(
    rows.map((row) => recoverOne(context, { row, facts, pane: found.get(row.id), listeners })),
  )
  const recovery: Recovery = {
    adopted: results.filter((result) => result.kind === 'adopted').map((result) => result.id),
    lost: results.filter((result) => result.kind === 'lost').map((result) => result.id),
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

type Result =
  | { readonly kind: 'adopted' | 'lost' | 'left'; readonly id: string }
  | { readonly kind: 'failed'; readonly id: string; readonly why: string }

type Candidate = {
  readonly row: Terminal
  readonly facts: BackendFacts
  readonly pane: FoundTerminal | undefined
  readonly listeners: RuntimeListeners
}

async function recoverOne(context: AppContext, candidate: Candidate): Promise<Result> {
  const { row, facts, pane } = candidate
  try {
    if (row.life === 'exited' || row.life === 'lost') return { kind: 'left', id: row.id }
    if (row.life === 'deleting') {
      await finishDeletion(context, candidate)
      return { kind: 'left', id: row.id }
    }
    if (pane === undefined) {
      const isOther = row.pane !== undefined && row.pane.instanceId !== facts.instanceId
      const why = isOther ? 'the tmux server it ran on has ended' : 'its pane was gone when the server started'
      await noteLost(context, row, why)
      return { kind: 'lost', id: row.id }
    }
    await adopt(context, candidate, pane)
    return { kind: 'adopted', id: row.id }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    context.log.write('error', 'terminal not recovered', { terminalId: row.id, error: why })
    return { kind: 'failed', id: row.id, why }
  }
}

async function adopt(context: AppContext, { row, listeners }: Candidate, pane: FoundTerminal): Promise<void> {
  const { store, providers, backend, capabilities, layout, runtimes } = context
  const provider = providers.get(row.provider)
  if (provider === undefined) throw new Error(`its provider ${row.provider} is not part of this version`)
  // A crash between the pane and its row left the row `planned`: the pane proves that it was opened.
  if (row.life === 'planned') stepTerminal(context, row.id, 'open', { pane: pane.pane })
  await capabilities.load(terminalDirs(layout, row.id).dir, row.id)
  const live = store.terminals.find(row.id) ?? row
  const runtime = new Runtime(context, live, provider, { pane: backend.attach(row.id, pane.pane), listeners })
  runtimes.set(row.id, runtime)
  try {
    await runtime.start(true)
  } catch (error) {
    runtimes.delete(row.id)
    await runtime[Symbol.asyncDispose]()
    throw error
  }
}

/** A deletion that a crash cut short is carried to its end. */
async function finishDeletion(context: AppContext, { row, pane }: Candidate): Promise<void> {
  if (pane !== undefined) {
    await using terminal = context.backend.attach(row.id, pane.pane)
    await terminal.destroy({ graceMs: 500 }, { signal: AbortSignal.timeout(15_000) })
  }
  stepTerminal(context, row.id, 'finish')
}
