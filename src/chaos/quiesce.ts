/** After the last fault: waits until nothing is under way any more, and ends workers whose jobs are done while the run goes on. */
import { existsSync, readdirSync } from 'node:fs'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { type AgentLine, type AgentRecords, readAgent, readStore, type StoreRows } from './records.ts'
import type { Stage } from './stage.ts'
import type { Team } from './team.ts'

const quietLimitMs = 150_000
const quietLooks = 3
const lookGapMs = 500
const sweepGapMs = 3_000
const callLimitMs = 30_000
const openMessageStates = new Set(['queued', 'leased', 'typing', 'typed', 'confirmed', 'turn_started'])
const openJobStates = new Set(['created', 'running'])
const restStatuses = new Set(['idle', 'completed'])

/** What still moves, as sentences; none when all is quiet. */
async function findMotion(stage: Stage): Promise<readonly string[]> {
  const { client, parts } = stage
  const { layout } = parts.world
  const rows = readStore(layout.dbFile)
  const live = new Set(rows.terminals.filter(({ life }) => life === 'live').map(({ id }) => id))
  const messages = rows.messages.filter(({ receiverId, state }) => live.has(receiverId) && openMessageStates.has(state))
  const jobs = rows.jobs.filter(({ state }) => openJobStates.has(state))
  const terminals = await client.listTerminals(undefined, { signal: parts.signal })
  const busy = terminals.filter(({ life, status }) => life === 'live' && !restStatuses.has(status))
  const outbox = listOutbox(layout.outboxDir)
  return [
    ...messages.map(({ id, receiverId, state }) => `message ${id} to ${receiverId} is ${state}`),
    ...jobs.map(({ id, state }) => `job ${id} is ${state}`),
    ...busy.map(({ id, status, status_reason }) => `${id} is ${status} (${status_reason})`),
    ...outbox.map((name) => `outbox file ${name}`),
  ]
}

export function listOutbox(dir: string): readonly string[] {
  return existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith('.json')) : []
}

/** Resolves with what still moved at the end of the limit; nothing when the run came to rest. */
export async function waitUntilQuiet(stage: Stage): Promise<readonly string[]> {
  const { clock, parts } = stage
  const endMs = clock.monotonicMs() + quietLimitMs
  let quiet = 0
  for (;;) {
    const motion = await findMotion(stage)
    quiet = motion.length === 0 ? quiet + 1 : 0
    if (quiet >= quietLooks) return []
    if (clock.monotonicMs() > endMs) return motion
    await sleep(clock, lookGapMs, parts.signal)
  }
}

/**
 * Ends the workers of jobs, and agents that nobody knows, so that a long run does not fill the machine. Their records are
 * kept in memory first, since CAO removes them with the terminal.
 */
export class Sweeper {
  readonly #stage: Stage
  readonly #team: Team
  readonly #kept = new Map<string, readonly AgentLine[]>()
  endedCount = 0

  constructor(stage: Stage, team: Team) {
    this.#stage = stage
    this.#team = team
  }

  /** Until `signal` aborts. Errors: none of a CAO that is away. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#stage.clock, sweepGapMs, signal).catch(() => undefined)
      if (signal.aborted) return
      try {
        await this.sweep()
      } catch (error) {
        // The server is being killed around us: the next round does it.
        if (!(error instanceof AppError)) throw error
      }
    }
  }

  async sweep(): Promise<void> {
    const { client, parts } = this.#stage
    const { layout } = parts.world
    const rows = readStore(layout.dbFile)
    const members = new Set(this.#team.everybody.map(({ id }) => id))
    for (const terminal of await client.listTerminals(undefined, { signal: parts.signal })) {
      if (members.has(terminal.id)) continue
      const isWorker = terminal.metadata?.['chaos_attempt'] === undefined
      if (isWorker ? !isDone(rows, terminal.id) : !this.#team.isAbandoned(terminal)) continue
      const lines = readAgent(layout.terminalsDir, terminal.id)
      if (lines !== undefined) this.#kept.set(terminal.id, lines)
      await client.deleteTerminal(terminal.id, { signal: parts.signal, timeoutMs: callLimitMs })
      this.endedCount++
    }
  }

  /** Everybody's records: those that are still there, and those that were kept. */
  readRecords(rows: StoreRows): AgentRecords {
    const { terminalsDir } = this.#stage.parts.world.layout
    const records = new Map(this.#kept)
    for (const { id } of rows.terminals) {
      const lines = readAgent(terminalsDir, id)
      if (lines !== undefined) records.set(id, lines)
    }
    return records
  }
}

/** A worker with a job, and none of them open; its callback may still be on its way from the row. */
function isDone(rows: StoreRows, workerId: string): boolean {
  const jobs = rows.jobs.filter((job) => job.workerId === workerId)
  return jobs.length > 0 && jobs.every(({ state }) => !openJobStates.has(state))
}
