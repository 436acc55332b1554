/** Walks every pair of a state table against the literal list of moves that are legal. */
import { expect, test } from 'vitest'
import type { Result } from '../lib/result.ts'
import type { IllegalMove } from './table.ts'

export type TableCase<State extends string, Step extends string> = {
  readonly states: readonly State[]
  readonly steps: readonly Step[]
  /** `from step to`, one a line. */
  readonly legal: readonly `${State} ${Step} ${State}`[]
  readonly apply: (from: State, step: Step) => Result<State, IllegalMove<State, Step>>
}

export function describeTable<State extends string, Step extends string>(table: TableCase<State, Step>): void {
  const pairs = table.states.flatMap((from) => table.steps.map((step) => [from, step] as const))

  test('allows exactly the listed moves', () => {
    const allowed = pairs.flatMap(([from, step]) => {
      const to = table.apply(from, step)
      return to.ok ? [`${from} ${step} ${to.value}`] : []
    })
    expect(new Set(allowed)).toEqual(new Set(table.legal))
    expect(allowed).toHaveLength(table.legal.length)
  })

  const isListed = (from: State, step: Step): boolean => table.legal.some((line) => line.startsWith(`${from} ${step} `))
  const illegal = pairs.filter(([from, step]) => !isListed(from, step))
  test.each(illegal)('refuses to %s-%s, naming the pair', (from, step) => {
    expect(table.apply(from, step)).toEqual({ ok: false, error: { from, step } })
  })
}
