import { expect, test } from 'vitest'
import { errorTable } from '../../src/domain/errors.ts'

test('scripts and clients find each error code with its HTTP status and exit code', () => {
  const pinned = Object.entries(errorTable).map(([code, row]) => {
    const retry = row.retryable ? ' retryable' : ''
    return `${code} ${row.httpStatus} ${row.exitCode}${retry}`
  })
  expect(pinned).toEqual([
    'BAD_REQUEST 400 2',
    'VALIDATION 422 2',
    'UNAUTHORIZED 401 77',
    'FORBIDDEN 403 77',
    'NOT_FOUND 404 4',
    'METHOD_NOT_ALLOWED 405 2',
    'NAME_TAKEN 400 5',
    'PROFILE_UNKNOWN 400 6',
    'PROFILE_INVALID 400 6',
    'PROVIDER_UNKNOWN 400 6',
    'PROGRAM_MISSING 400 7',
    'DIRECTORY_MISSING 400 8',
    'CONFLICT 409 9',
    'BLOCKED 409 9 retryable',
    'ENV_MISSING 409 9',
    'TOO_LARGE 413 2',
    'QUEUE_FULL 429 75 retryable',
    'RATE_LIMITED 429 75 retryable',
    'LAUNCH_FAILED 502 10',
    'WORKER_FAILED 502 11',
    'BACKEND_GONE 503 75 retryable',
    'BACKEND_TIMEOUT 504 75 retryable',
    'TIMEOUT 504 12 retryable',
    'LIMIT_REACHED 409 9',
    'DEFERRED 503 75 retryable',
    'STORAGE_FULL 507 75 retryable',
    'STORE_NEWER 500 78',
    'STORE_CORRUPT 500 65',
    'SERVER_UNREACHABLE 503 69 retryable',
    'SETUP_MISSING 500 69',
    'INTERNAL 500 70',
  ])
})
