/**
 * How a fault looks on the wire, both ways: upstream's `detail`, and beside it our code, from which a client
 * makes the same AppError again.
 */
import { AppError, type ErrorCode, errorTable, isErrorCode } from '../domain/errors.ts'

/** `detail` is a sentence; for a failed step it is upstream's object with `message` and `kind`. */
export type ErrorBody = {
  readonly detail: string | StepFailure
  readonly code: ErrorCode
  readonly data?: Readonly<Record<string, unknown>>
}

/** Upstream's shape of a failed run-step; `kind` is what clients look at. */
export type StepFailure = {
  readonly message: string
  readonly kind: 'error' | 'timeout' | 'cancelled'
  readonly terminal_id: string | null
}

export function toErrorBody(error: AppError): ErrorBody {
  const body = { detail: error.message, code: error.code }
  return Object.keys(error.data).length === 0 ? body : { ...body, data: error.data }
}

/** The fault that an answer with `status` tells of. Bodies that are not ours (a proxy, an old server) still give one. */
export function fromErrorBody(status: number, body: unknown): AppError {
  const { detail, code, data } = isRecord(body) ? body : {}
  const known = typeof code === 'string' && isErrorCode(code) ? code : codeOfStatus(status)
  const fields = { ...(isRecord(data) ? data : {}), ...(isRecord(detail) ? detail : {}) }
  return new AppError(known, sentenceOf(detail) ?? `the server answered ${status}`, { data: fields })
}

function sentenceOf(detail: unknown): string | undefined {
  if (typeof detail === 'string') return detail
  if (isRecord(detail) && typeof detail['message'] === 'string') return detail['message']
  return detail === undefined ? undefined : JSON.stringify(detail)
}

const codesOfStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  413: 'TOO_LARGE',
  422: 'VALIDATION',
  429: 'QUEUE_FULL',
  431: 'TOO_LARGE',
}

function codeOfStatus(status: number): ErrorCode {
  const first = (Object.keys(errorTable) as ErrorCode[]).find((code) => errorTable[code].httpStatus === status)
  return codesOfStatus[status] ?? first ?? 'INTERNAL'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
