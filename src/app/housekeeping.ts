/**
 * Keeps the home from growing without end while the server runs: once an hour what ended long ago is forgotten, once a day the
 * database is copied. A person can ask for the first at any time (`cao purge`). What lives, waits or is open is never touched.
 */
import { sleep, type Waiting } from '../async/wait.ts'
import { openDeliveryStates } from '../domain/delivery.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { PurgeOutcome } from './app.ts'
import type { AppContext } from './context.ts'
import type { Deleter } from './end-terminal.ts'

/** After the start, when agents have been found and people wait for nothing. Units: ms. */
const firstAfterMs = 60_000
const everyMs = 3_600_000
const backupEveryMs = 24 * 3_600_000

type Home = Pick<AppContext, 'store' | 'clock' | 'log'>

export type Purge = {
  /** What ended longer ago than this is forgotten. Units: ms. */
  readonly olderThanMs: number
  /** Nothing is changed; the outcome says what would be. */
  readonly isDryRun: boolean
}

/** Until `signal` aborts. Errors: none; what fails is logged and tried again the next time. */
export async function keepHouse(
  context: Home,
  { deleter, olderThanMs }: { readonly deleter: Pick<Deleter, 'delete'>; readonly olderThanMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, store } = context
  await attempt('copy of the database', async () => {
    const path = await store.backUp({ nowMs: clock.nowMs(), everyMs: backupEveryMs })
    if (path !== undefined) log.write('info', 'database copied', { path })
  })
  for (let pauseMs = firstAfterMs; ; pauseMs = everyMs) {
    await sleep(clock, pauseMs, signal)
    await attempt('retention', async () => {
      const outcome = await purge(context, deleter, { olderThanMs, isDryRun: false }, { signal })
      if (Object.values(outcome).some((value) => value !== 0 && String(value) !== ''))
        log.write('info', 'what ended long ago is forgotten', outcome)
    })
    await attempt('copy of the database', async () => {
      await store.backUp({ nowMs: clock.nowMs(), everyMs: backupEveryMs })
    })
  }

  async function attempt(what: string, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (signal.aborted) throw error
      log.write('error', 'housekeeping failed', { what, error: String(error) })
    }
  }
}

/** Ends the records of agents that ended before the moment and for which nothing waits, then drops the rows of all ended things. */
export async function purge(
  context: Home,
  deleter: Pick<Deleter, 'delete'>,
  { olderThanMs, isDryRun }: Purge,
  waiting: Waiting,
): Promise<PurgeOutcome> {
  const { store, clock, log } = context
  const beforeMs = clock.nowMs() - olderThanMs
  const ended = findEnded(context, beforeMs)
  const deleted: TerminalId[] = []
  for (const { id } of isDryRun ? [] : ended) {
    try {
      await deleter.delete(id, waiting)
      deleted.push(id)
    } catch (error) {
      waiting.signal.throwIfAborted()
      log.write('warn', 'ended terminal not removed', { terminalId: id, error: String(error) })
    }
  }
  const rows = store.purge(beforeMs, { isDryRun })
  return { ended: isDryRun ? ended.map(({ id }) => id) : deleted, ...rows }
}

/** Exited or lost since then, with no message that waits for it and no job that needs it. */
function findEnded({ store }: Home, beforeMs: number): readonly Terminal[] {
  const jobs = store.jobs.listOpen()
  return store.terminals
    .list()
    .filter(
      ({ id, life, lastActiveAtMs }) =>
        (life === 'exited' || life === 'lost') &&
        lastActiveAtMs < beforeMs &&
        !jobs.some(({ workerId, callerId }) => workerId === id || callerId === id) &&
        store.messages.count(id, openDeliveryStates) === 0,
    )
}
