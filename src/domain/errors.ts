/**
 * Faults that cross a boundary: one table says how each looks over HTTP, as a CLI exit code, to an
 * MCP client, and whether trying again may help. The codes are pinned by `test/pins`.
 */
export type ErrorCode = keyof typeof errorTable

type ErrorRow = { readonly httpStatus: number; readonly exitCode: number; readonly retryable: boolean }

const row = (httpStatus: number, exitCode: number, retryable = false): ErrorRow => ({ httpStatus, exitCode, retryable })

export const errorTable = {
  BAD_REQUEST: row(400, 2),
  VALIDATION: row(422, 2),
  UNAUTHORIZED: row(401, 77),
  FORBIDDEN: row(403, 77),
  NOT_FOUND: row(404, 4),
  METHOD_NOT_ALLOWED: row(405, 2),
  NAME_TAKEN: row(400, 5),
  PROFILE_UNKNOWN: row(400, 6),
  PROFILE_INVALID: row(400, 6),
  PROVIDER_UNKNOWN: row(400, 6),
  PROGRAM_MISSING: row(400, 7),
  DIRECTORY_MISSING: row(400, 8),
  CONFLICT: row(409, 9),
  BLOCKED: row(409, 9, true),
  ENV_MISSING: row(409, 9),
  TOO_LARGE: row(413, 2),
  QUEUE_FULL: row(429, 75, true),
  RATE_LIMITED: row(429, 75, true),
  LAUNCH_FAILED: row(502, 10),
  WORKER_FAILED: row(502, 11),
  BACKEND_GONE: row(503, 75, true),
  BACKEND_TIMEOUT: row(504, 75, true),
  TIMEOUT: row(504, 12, true),
  LIMIT_REACHED: row(409, 9),
  DEFERRED: row(503, 75, true),
  STORAGE_FULL: row(507, 75, true),
  STORE_NEWER: row(500, 78),
  STORE_CORRUPT: row(500, 65),
  SERVER_UNREACHABLE: row(503, 69, true),
  SETUP_MISSING: row(500, 69),
  INTERNAL: row(500, 70),
} as const satisfies Record<string, ErrorRow>

export type AppErrorOptions = { readonly data?: Readonly<Record<string, unknown>>; readonly cause?: unknown }

/** A fault with a code. The message is one sentence for the person, and says what to do where that is known. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.data = options.data ?? {}
  }

  get row(): ErrorRow {
    return errorTable[this.code]
  }
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorTable, text)
}
