/** How every state table here is read: legal moves only, the rest is a typed refusal. */
import { err, ok, type Result } from '../lib/result.ts'

export type Moves<State extends string, Step extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Step, State>>>>
>
export type IllegalMove<State, Step> = { readonly from: State; readonly step: Step }

/** The state after `step`, or the illegal pair. Errors: none thrown. */
export function applyStep<State extends string, Step extends string>(
  moves: Moves<State, Step>,
  from: State,
  step: Step,
): Result<State, IllegalMove<State, Step>> {
  const to = moves[from][step]
  return to === undefined ? err({ from, step }) : ok(to)
}
