/** Commands of several actions, `cao NAME ACTION …`: the first word chooses. */
import { AppError } from '../domain/errors.ts'
import type { Call } from './command.ts'

export type Action = (call: Call) => Promise<void>

/** Runs the action that the first word names, `list` without one. Errors: BAD_REQUEST, and what the action refuses. */
export async function runAction(actions: Readonly<Record<string, Action>>, call: Call): Promise<number> {
  const [name = 'list', ...positionals] = call.positionals
  const run = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (run === undefined) {
    throw new AppError('BAD_REQUEST', `"${name}" is none of ${Object.keys(actions).join(', ')}`)
  }
  await run({ ...call, positionals })
  return 0
}
