/**
 * How the benches measure: the ways to compare run in turn, round by round, so that whatever the machine does meanwhile
 * hits all of them; what is compared are medians of the same run.
 */
export type Contender = { readonly name: string; readonly run: () => Promise<void> }

/** Durations of one contender, ascending. Units: ms. */
export type Sample = { readonly name: string; readonly sortedMs: readonly number[] }

export type Limits = {
  readonly warmUpRounds: number
  readonly roundsMax: number
  /** No round begins later than this. Units: ms. */
  readonly totalMs: number
}

/** Runs the contenders in turn; the order changes with every round, so that none always follows the same one. */
export async function measureInTurn(contenders: readonly Contender[], limits: Limits): Promise<readonly Sample[]> {
  const durations = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  const startedAtMs = performance.now()
  for (let round = 0; round < limits.warmUpRounds + limits.roundsMax; round++) {
    if (round > limits.warmUpRounds && performance.now() - startedAtMs > limits.totalMs) break
    const order = round % 2 === 0 ? contenders : contenders.toReversed()
    for (const { name, run } of order) {
      const beforeMs = performance.now()
      await run()
      if (round >= limits.warmUpRounds) durations.get(name)?.push(performance.now() - beforeMs)
    }
  }
  return [...durations].map(([name, list]) => ({ name, sortedMs: list.toSorted((a, b) => a - b) }))
}

/** The value below which the share `q` of the sample lies. */
export function quantile({ sortedMs }: Pick<Sample, 'sortedMs'>, q: number): number {
  return sortedMs[Math.min(sortedMs.length - 1, Math.floor(q * sortedMs.length))] ?? Number.NaN
}

export const median = (sample: Pick<Sample, 'sortedMs'>): number => quantile(sample, 0.5)

export const round = (value: number, digits = 3): number => Number(value.toFixed(digits))

export type Summary = {
  readonly runs: number
  readonly p50_ms: number
  readonly p90_ms: number
  readonly max_ms: number
}

export function summarize(sample: Sample): Summary {
  return {
    runs: sample.sortedMs.length,
    p50_ms: round(median(sample)),
    p90_ms: round(quantile(sample, 0.9)),
    max_ms: round(quantile(sample, 1)),
  }
}

/** Prints the table, and then the one JSON object that is every bench's last line. */
export function report(bench: string, samples: readonly Sample[], facts: Readonly<Record<string, unknown>>): void {
  const width = Math.max(...samples.map(({ name }) => name.length), 4)
  const cell = (value: number) => value.toFixed(2).padStart(10)
  console.log(
    `${''.padEnd(width)}  ${'runs'.padStart(6)}${'p50 ms'.padStart(10)}${'p90 ms'.padStart(10)}${'max ms'.padStart(10)}`,
  )
  for (const sample of samples) {
    const { runs, p50_ms, p90_ms, max_ms } = summarize(sample)
    console.log(
      `${sample.name.padEnd(width)}  ${String(runs).padStart(6)}${cell(p50_ms)}${cell(p90_ms)}${cell(max_ms)}`,
    )
  }
  for (const [name, value] of Object.entries(facts)) console.log(`${name}: ${JSON.stringify(value)}`)
  const results = Object.fromEntries(samples.map((sample) => [sample.name, summarize(sample)]))
  console.log(JSON.stringify({ bench, ...facts, results }))
}

export const isQuick = (): boolean => process.argv.includes('--quick')
