/**
 * A step of a state table on a row, safe against another connection that steps the same row: the update compares
 * the state it was decided on, and who comes second decides again on what it finds.
 */
import type { IllegalMove } from '../../domain/table.ts'
import { assert } from '../../lib/assert.ts'
import type { Result } from '../../lib/result.ts'
import type { Moved } from '../store.ts'

/** Each lost race means that somebody else moved the row, and no table here has so long a way. */
const racesMax = 20

export type Move<T, State extends string> = {
  readonly find: () => T | undefined
  readonly state: (row: T) => State
  readonly decide: (from: State) => Result<State, IllegalMove<State, string>>
  /** Writes the row where its state is still `from`; the row as written, or undefined when it was not. */
  readonly update: (row: T, from: State, to: State) => T | undefined
}

export function moveRow<T, State extends string>(move: Move<T, State>): Moved<T> {
  for (let race = 0; race < racesMax; race++) {
    const row = move.find()
    if (row === undefined) return { kind: 'missing' }
    const from = move.state(row)
    const to = move.decide(from)
    if (!to.ok) return { kind: 'illegal', from }
    const written = move.update(row, from, to.value)
    if (written !== undefined) return { kind: 'moved', row: written, from }
  }
  assert(false, 'a row was moved by others in every one of our attempts')
}
