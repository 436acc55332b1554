/**
 * The chaos run from its first line to its verdict: a private world, a team, the plan of traffic and the plan of faults
 * side by side, rest, the checker, the end of everything. A run that fails keeps its world and names its seed.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../async/clock.ts'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { findProcesses } from '../world/find-processes.ts'
import { createWorld, type PrivateWorld, removeWorld } from '../world/private-world.ts'
import { Answerer } from './answerer.ts'
import type { ChaosOptions } from './chaos-options.ts'
import { type Fault, type FaultKind, planFaults } from './fault-plan.ts'
import { Faults } from './faults.ts'
import { type Evidence, judge } from './judge.ts'
import { Ledger } from './ledger.ts'
import { endEverything, findAtRest } from './leftovers.ts'
import { countDescriptors, isRunning, signalIfThere } from './processes.ts'
import { listOutbox, Sweeper, waitUntilQuiet } from './quiesce.ts'
import { readStore } from './records.ts'
import { formatJson, formatTable, listViolations, type Report } from './report.ts'
import { Stage } from './stage.ts'
import { Team } from './team.ts'
import { Traffic } from './traffic.ts'
import { planTraffic } from './traffic-plan.ts'

const progressGapMs = 10_000

export type ChaosParts = {
  readonly options: ChaosOptions
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly env: Readonly<Record<string, string | undefined>>
  /** argv of the server program. */
  readonly server: readonly string[]
  readonly say: (line: string) => void
}

/** The exit code: 0 when nothing was violated, 130 when interrupted, else 1. Errors: none of the run's own. */
export async function runChaos(parts: ChaosParts): Promise<number> {
  const { clock, options, say } = parts
  const startMs = clock.monotonicMs()
  const world = await createWorld({ ...parts, name: 'chaos' })
  const tell = (line: string) => say(`${((clock.monotonicMs() - startMs) / 1000).toFixed(1).padStart(6)} s  ${line}`)
  const run = new Run(parts, world, tell)
  let failure: string | undefined
  try {
    const report = await run.play()
    for (const line of formatTable(report)) say(line)
    say(formatJson(report))
    for (const told of report.verdict.toldBad) say(`bad end: ${told}`)
    const violations = listViolations(report)
    for (const violation of violations) say(`violation: ${violation}`)
    if (violations.length > 0) failure = `${violations.length} violations`
  } catch (error) {
    failure = parts.signal.aborted ? 'interrupted' : sentenceOf(error)
  }
  if (failure === undefined) {
    await removeWorld(world)
    say(`chaos: ok (seed ${options.seed})`)
    return 0
  }
  await endByForce(world)
  say(
    `The records are kept in ${world.folder}: cao/logs/server.log, cao/db/cao.db, evidence/; remove it when you have looked.`,
  )
  const again = `npm run chaos -- --seed ${options.seed} --minutes ${options.durationMs / 60_000} --agents ${options.agents}`
  say(`chaos: failed: ${failure}; the same again: ${again}${options.hasFaults ? '' : ' --no-faults'}`)
  return parts.signal.aborted ? 130 : 1
}

const sentenceOf = (error: unknown): string =>
  error instanceof AppError
    ? `${error.code}: ${error.message}`
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error)

/** Frozen processes, too: a kill reaches them. */
async function endByForce({ folder }: PrivateWorld): Promise<void> {
  for (const { pid } of await findProcesses(folder)) signalIfThere(pid, 'SIGKILL')
}

class Run {
  readonly #parts: ChaosParts
  readonly #world: PrivateWorld
  readonly #tell: (line: string) => void
  readonly #stage: Stage
  readonly #team: Team
  readonly #ledger = new Ledger()
  readonly #sweeper: Sweeper
  /** Aborts when what a fault broke does not come back: the rest of the traffic is pointless then. */
  readonly #broken = new AbortController()
  readonly #done = new Map<FaultKind, number>()
  #missedCount = 0

  constructor(parts: ChaosParts, world: PrivateWorld, tell: (line: string) => void) {
    this.#parts = parts
    this.#world = world
    this.#tell = tell
    this.#stage = new Stage({
      ...parts,
      signal: AbortSignal.any([parts.signal, this.#broken.signal]),
      world,
      say: tell,
    })
    this.#team = new Team(this.#stage, parts.options.agents)
    this.#sweeper = new Sweeper(this.#stage, this.#team)
  }

  async play(): Promise<Report> {
    const { options, clock } = this.#parts
    this.#tell(
      `seed ${options.seed}, ${options.agents} agents, ${options.durationMs / 1000} s, in ${this.#world.folder}`,
    )
    await this.#stage.ensureServer()
    const freshDescriptors = await countDescriptors(this.#stage.serverPid ?? 0)
    await this.#team.fill()
    this.#tell(`${options.agents} agents are ready`)
    const startMs = clock.monotonicMs()
    const { tookMs, restless } = await this.#answering(async () => {
      await this.#playPlans()
      const tookMs = clock.monotonicMs() - startMs
      this.#tell('the plan is done; waiting for rest')
      await this.#stage.ensureServer()
      await this.#team.fill()
      return { tookMs, restless: await waitUntilQuiet(this.#stage) }
    })
    await this.#sweeper.sweep()
    const evidence = await this.#collect()
    const deaths = await this.#findDeaths()
    const atRest = await findAtRest(this.#stage, liveIds(evidence))
    const refused = listOutbox(this.#world.layout.outboxDir)
    this.#keep(evidence)
    const leftBehind = await endEverything(this.#stage, freshDescriptors)
    return {
      options,
      tookMs,
      verdict: judge(evidence),
      restless: [...restless, ...refused.map((name) => `outbox file ${name} was not taken in`)],
      deaths,
      leftBehind: [...atRest, ...leftBehind],
      faults: this.#done,
      missedCount: this.#missedCount,
      retryCount: this.#ledger.retryCount,
      serverStarts: this.#stage.startCount,
      agentsStarted: this.#team.everybody.length,
      workersEnded: this.#sweeper.endedCount,
    }
  }

  /** Agents that ask are answered as long as `work` goes on, also when no fault is done any more. */
  async #answering<T>(work: () => Promise<T>): Promise<T> {
    const over = new AbortController()
    const answers = new Answerer(this.#stage).run(AbortSignal.any([over.signal, this.#parts.signal]))
    try {
      return await work()
    } finally {
      over.abort()
      await answers
    }
  }

  async #playPlans(): Promise<void> {
    const { options, signal } = this.#parts
    const over = new AbortController()
    const background = AbortSignal.any([over.signal, signal])
    const traffic = new Traffic(this.#stage, this.#team, { ledger: this.#ledger, seed: options.seed })
    const plan = planTraffic(options)
    const around = Promise.all([this.#tellProgress(background), this.#sweeper.run(background)])
    try {
      const faults = options.hasFaults ? this.#playFaults(planFaults(options), traffic) : Promise.resolve()
      const both = [traffic.run(plan), faults].map((work) => work.catch((error: unknown) => this.#break(error)))
      await Promise.all(both)
    } finally {
      over.abort()
      await around
    }
  }

  #break(error: unknown): never {
    this.#broken.abort(error)
    throw this.#broken.signal.reason
  }

  async #playFaults(plan: readonly Fault[], traffic: Traffic): Promise<void> {
    const { clock, signal, options } = this.#parts
    const faults = new Faults(this.#stage, this.#team, traffic.write)
    const startMs = clock.monotonicMs()
    for (const fault of plan) {
      const nowMs = clock.monotonicMs() - startMs
      if (nowMs > options.durationMs) break
      if (fault.atMs > nowMs) await sleep(clock, fault.atMs - nowMs, signal)
      const { isMissed, told } = await faults.perform(fault)
      this.#tell(`${fault.kind}: ${told}`)
      if (isMissed) this.#missedCount++
      else this.#done.set(fault.kind, (this.#done.get(fault.kind) ?? 0) + 1)
    }
  }

  async #tellProgress(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    while (!signal.aborted) {
      await sleep(clock, progressGapMs, signal).catch(() => undefined)
      if (signal.aborted) return
      const { sends, retryCount, refusedCount } = this.#ledger
      const accepted = sends.filter(({ isAccepted }) => isAccepted).length
      const faults = [...this.#done.values()].reduce((sum, count) => sum + count, 0)
      this.#tell(
        `… ${sends.length} sends, ${accepted} over HTTP accepted, ${retryCount} given again, ${refusedCount} refused; ${faults} faults, ${this.#stage.startCount} server lives, ${this.#team.everybody.length} agents so far`,
      )
    }
  }

  async #collect(): Promise<Evidence> {
    const rows = readStore(this.#world.layout.dbFile)
    const alive = new Set(this.#team.present.map(({ id }) => id))
    return { sends: this.#ledger.sends, jobs: this.#ledger.jobs, rows, records: this.#sweeper.readRecords(rows), alive }
  }

  /** Agents that no fault took, and that are gone nevertheless. */
  async #findDeaths(): Promise<readonly string[]> {
    const terminals = await this.#stage.client.listTerminals()
    const deaths: string[] = []
    for (const { id, slot } of this.#team.present) {
      const life = terminals.find((one) => one.id === id)?.life ?? 'not there'
      const pid = this.#stage.agentPid(id)
      if (pid === undefined || !(await isRunning(pid)))
        deaths.push(`agent ${id} in slot ${slot} died by itself (${life})`)
      else if (life !== 'live') deaths.push(`agent ${id} in slot ${slot} runs, and CAO says ${life}`)
    }
    return deaths
  }

  /** For a person who looks into a failure: what the checker saw. */
  #keep({ sends, jobs, records }: Evidence): void {
    const dir = join(this.#world.folder, 'evidence')
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const asked = { sends, jobs, everybody: this.#team.everybody }
    writeFileSync(join(dir, 'asked.json'), JSON.stringify(asked, undefined, 1))
    writeFileSync(join(dir, 'records.json'), JSON.stringify(Object.fromEntries(records), undefined, 1))
  }
}

const liveIds = ({ rows }: Evidence): ReadonlySet<string> =>
  new Set(rows.terminals.filter(({ life }) => life === 'live').map(({ id }) => id))
