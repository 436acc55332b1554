/** What a launch can be refused for, whichever route asks for it. */
import type { ErrorCode } from '../domain/errors.ts'

export const launchErrors = [
  'BAD_REQUEST',
  'PROFILE_UNKNOWN',
  'PROFILE_INVALID',
  'PROVIDER_UNKNOWN',
  'PROGRAM_MISSING',
  'DIRECTORY_MISSING',
  'LIMIT_REACHED',
  'DEFERRED',
] as const satisfies readonly ErrorCode[]
