/**
 * From what the tmux library says to the faults of the backend contract, in one place, so that a
 * caller sees the same code for the same trouble whichever call met it.
 */

import { AppError } from '../../domain/errors.ts'
import { describeUnavailable, type Unavailable } from '../../tmux/runner.ts'
import type { Waiting } from '../backend.ts'

/** BACKEND_TIMEOUT when tmux is there and slow, BACKEND_GONE when nobody answers. */
export function unavailableFault(outcome: Unavailable): AppError {
  const message = describeUnavailable(outcome)
  return new AppError(outcome.kind === 'closed' ? 'BACKEND_GONE' : 'BACKEND_TIMEOUT', message)
}

/** For an answer of tmux that this code does not know: not the caller's fault, and nothing is known to have happened. */
export function failedFault(what: string, detail: string): AppError {
  return new AppError('BACKEND_GONE', `tmux could not ${what}: ${detail}`)
}

/** As `promise`, or rejects with the signal's reason when it aborts first. The work itself goes on. */
export function untilAborted<T>(promise: Promise<T>, waiting: Waiting): Promise<T> {
  const { signal } = waiting
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    const settle = () => signal.removeEventListener('abort', onAbort)
    promise.then(
      (value) => {
        settle()
        resolve(value)
      },
      (error: unknown) => {
        settle()
        reject(error as Error)
      },
    )
  })
}
