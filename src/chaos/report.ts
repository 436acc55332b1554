/** What a run has found, as a table, as one JSON line, and as the list of what must not be. Pure. */
import type { ChaosOptions } from './chaos-options.ts'
import { type FaultKind, faultKinds } from './fault-plan.ts'
import type { Verdict } from './judge.ts'

export type Report = {
  readonly options: ChaosOptions
  readonly tookMs: number
  readonly verdict: Verdict
  /** What still moved when it should have been at rest. */
  readonly restless: readonly string[]
  readonly deaths: readonly string[]
  readonly leftBehind: readonly string[]
  readonly faults: ReadonlyMap<FaultKind, number>
  /** Planned faults whose target was not there. */
  readonly missedCount: number
  readonly retryCount: number
  readonly serverStarts: number
  readonly agentsStarted: number
  readonly workersEnded: number
}

/** Confirmed among accepted sends whose two ends live. Units: percent. */
export const confirmedFloor = { inPeace: 99.5, inChaos: 95 } as const

export function confirmedPercent({ confirmed, surviving }: Verdict): number {
  return surviving === 0 ? 0 : (confirmed / surviving) * 100
}

export function listViolations(report: Report): readonly string[] {
  const { verdict, options, restless, deaths, leftBehind } = report
  const floor = options.hasFaults ? confirmedFloor.inChaos : confirmedFloor.inPeace
  const percent = confirmedPercent(verdict)
  const named = (what: string, list: readonly string[]) => list.map((one) => `${what}: ${one}`)
  return [
    ...named('lost', verdict.lost),
    ...named('doubled', verdict.doubled),
    ...named('false', verdict.falseClaims),
    ...named('misplaced', verdict.misplaced),
    ...named('out of order', verdict.outOfOrder),
    ...named('job', verdict.badJobs),
    ...named('answer', verdict.badAnswers),
    ...named('not at rest', restless),
    ...named('died', deaths),
    ...named('left behind', leftBehind),
    ...(percent < floor ? [`${percent.toFixed(2)} % confirmed, and the floor is ${floor} %`] : []),
  ]
}

function listFacts(report: Report): Readonly<Record<string, number>> {
  const { verdict } = report
  return {
    seconds: Math.round(report.tookMs / 1000),
    agents: report.options.agents,
    agents_started: report.agentsStarted,
    workers_ended: report.workersEnded,
    server_lives: report.serverStarts,
    sends: verdict.sends,
    given_again: report.retryCount,
    accepted: verdict.accepted,
    surviving_pairs: verdict.surviving,
    confirmed: verdict.confirmed,
    confirmed_percent: Number(confirmedPercent(verdict).toFixed(2)),
    bad_end_told: verdict.toldBad.length,
    jobs: verdict.jobs,
    jobs_answered: verdict.jobsAnswered,
    questions: verdict.questions,
    questions_answered: verdict.questionsAnswered,
    lost: verdict.lost.length,
    doubled: verdict.doubled.length,
    false: verdict.falseClaims.length,
    misplaced: verdict.misplaced.length,
    out_of_order: verdict.outOfOrder.length,
    bad_jobs: verdict.badJobs.length,
    bad_answers: verdict.badAnswers.length,
    not_at_rest: report.restless.length,
    died: report.deaths.length,
    left_behind: report.leftBehind.length,
    faults_missed: report.missedCount,
  }
}

export function formatTable(report: Report): readonly string[] {
  const rows = Object.entries(listFacts(report)).map(
    ([name, value]) => [name.replaceAll('_', ' '), String(value)] as const,
  )
  const faults = faultKinds.map((kind) => [`fault ${kind}`, String(report.faults.get(kind) ?? 0)] as const)
  return [...rows, ...faults].map(([name, value]) => `  ${name.padEnd(32)}${value.padStart(8)}`)
}

export function formatJson(report: Report): string {
  const { seed, hasFaults } = report.options
  return JSON.stringify({ chaos: 1, seed, hasFaults, ...listFacts(report), faults: Object.fromEntries(report.faults) })
}
