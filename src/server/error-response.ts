/** The HTTP edge: whatever was thrown becomes one answer by the error table, and only bugs are logged as such. */

import { QueueFullError } from '../async/serial-queue.ts'
import { DeadlineError } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { Log } from '../lib/log.ts'
import { type ErrorBody, toErrorBody } from '../protocol/error-body.ts'

export type RenderedError = { readonly status: number; readonly body: ErrorBody }

/** Pure but for the log line of an unexpected fault. */
export function renderError(error: unknown, log: Log, where: string): RenderedError {
  const known = toAppError(error)
  if (known !== undefined) return { status: known.row.httpStatus, body: toErrorBody(known) }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  log.write('error', 'a request failed unexpectedly', { where, stack })
  const bug = new AppError('INTERNAL', `${where} failed unexpectedly; the server's log says more`)
  return { status: bug.row.httpStatus, body: toErrorBody(bug) }
}

function toAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (error instanceof DeadlineError) return new AppError('TIMEOUT', error.message, { cause: error })
  if (error instanceof QueueFullError) return new AppError('QUEUE_FULL', error.message, { cause: error })
  return undefined
}
