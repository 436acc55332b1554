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

/** What the system refused about a file: no bug of ours, and a person can do something about it. */
function toSystemFault(error: unknown): AppError | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined
  const { code, path = 'the home' } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new AppError('STORAGE_FULL', `there is no room left for ${path} (${code}); make room`, { cause: error })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new AppError('BLOCKED', `the server may not use ${path} (${code}): look who owns it and its mode`, {
        cause: error,
      })
    case undefined:
    default:
      return undefined
  }
}

function toAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (error instanceof DeadlineError) return new AppError('TIMEOUT', error.message, { cause: error })
  const system = toSystemFault(error)
  if (system !== undefined) return system
  if (error instanceof QueueFullError) return new AppError('QUEUE_FULL', error.message, { cause: error })
  return undefined
}
