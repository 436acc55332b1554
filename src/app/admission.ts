/**
 * The one gate that every launch passes: how deep agents may delegate, how many workers a session may hold, and whether the machine
 * has room for one more. What is full for now is deferred with a time after which to ask again; nothing is queued here,
 * so that whoever asks knows how it stands.
 */
import { readFile } from 'node:fs/promises'
import { availableParallelism, loadavg } from 'node:os'
import { AppError } from '../domain/errors.ts'
import type { SessionName, TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { AppContext, LaunchLimits } from './context.ts'

export type Machine = {
  /** Undefined: this system does not tell. Units: MiB. */
  readonly memoryMib: number | undefined
  readonly loadPerCore: number
}

/** An agent that has just begun has not yet taken the memory that it will take. Units: MiB, ms. */
const youngAgentMib = 100
const youngForMs = 15_000
/** When to ask again. Units: s. */
const memoryRetryS = 30
const loadRetryS = 20

export type Launch = { readonly sessionName: SessionName; readonly callerId: TerminalId | undefined }

/** Errors: LIMIT_REACHED, DEFERRED with `retry_after_s`. */
export async function admit(context: Pick<AppContext, 'store' | 'limits' | 'clock'>, launch: Launch): Promise<void> {
  const { store, limits, clock } = context
  const all = store.terminals.list()
  if (launch.callerId !== undefined) requirePlace(limits, all, launch)
  const young = all.filter(
    ({ life, createdAtMs }) => (life === 'live' || life === 'planned') && createdAtMs > clock.nowMs() - youngForMs,
  )
  if (limits.memoryMinMib > 0 || limits.loadMax > 0) requireRoom(limits, await readMachine(), young.length)
}

/** Pure. Errors: LIMIT_REACHED. */
export function requirePlace(limits: LaunchLimits, all: readonly Terminal[], { sessionName, callerId }: Launch): void {
  const callers = new Map(all.map((terminal) => [terminal.id, terminal.callerId]))
  let depth = 0
  for (let above = callerId; above !== undefined && depth <= limits.depthMax; above = callers.get(above)) depth++
  if (depth > limits.depthMax) {
    const why = `agents delegate at most ${limits.depthMax} deep (limits.depth)`
    throw new AppError('LIMIT_REACHED', `${why}: do this work yourself, or give it back to whoever gave it to you`)
  }
  const workers = all.filter(
    (each) =>
      each.sessionName === sessionName && each.callerId !== undefined && ['planned', 'live'].includes(each.life),
  )
  if (workers.length < limits.sessionWorkersMax) return
  const why = `session ${sessionName} has ${workers.length} workers, and may have ${limits.sessionWorkersMax} (limits.workers)`
  throw new AppError('LIMIT_REACHED', `${why}: end one that is done, or give the task to one that is idle`)
}

/** Pure. `young`: agents that were started a moment ago. Errors: DEFERRED. */
export function requireRoom(limits: LaunchLimits, { memoryMib, loadPerCore }: Machine, young: number): void {
  const free = memoryMib === undefined ? undefined : memoryMib - young * youngAgentMib
  if (limits.memoryMinMib > 0 && free !== undefined && free < limits.memoryMinMib) {
    const least = `${limits.memoryMinMib} MiB (limits.memory_mib)`
    throw deferred(`${Math.max(0, Math.round(free))} MiB of memory are free, and ${least} must be`, memoryRetryS)
  }
  if (limits.loadMax > 0 && loadPerCore > limits.loadMax) {
    throw deferred(
      `the load is ${loadPerCore.toFixed(1)} per core, and at most ${limits.loadMax} (limits.load)`,
      loadRetryS,
    )
  }
}

const deferred = (why: string, retryAfterS: number): AppError =>
  new AppError('DEFERRED', `no agent is started now: ${why}; ask again in ${retryAfterS} s`, {
    data: { retry_after_s: retryAfterS },
  })

async function readMachine(): Promise<Machine> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const [, kib] = /^MemAvailable: +(\d+) kB$/m.exec(text) ?? []
  const [load = 0] = loadavg()
  return { memoryMib: kib === undefined ? undefined : Number(kib) / 1024, loadPerCore: load / availableParallelism() }
}
