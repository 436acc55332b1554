/** What may stand for a `:name` in a path: read into our own type, or refused with the sentence and the code of that part. */
import { AppError, type ErrorCode } from '../domain/errors.ts'
import {
  type JobId,
  type MessageId,
  parseJobId,
  parseSessionName,
  parseTerminalId,
  type SessionName,
  type TerminalId,
  trustMessageId,
} from '../domain/ids.ts'

export type PathPart<T> = {
  readonly parse: (text: string) => T
  /** Of a text that can be none. */
  readonly code: ErrorCode
  readonly schema: { readonly type: 'string' | 'integer'; readonly pattern?: string; readonly minimum?: number }
}

function part<T>(schema: PathPart<T>['schema'], code: ErrorCode, what: string, parse: (text: string) => T | undefined) {
  const parseOrRefuse = (text: string): T => {
    const value = parse(text)
    if (value === undefined) throw new AppError(code, what)
    return value
  }
  return { schema, code, parse: parseOrRefuse } satisfies PathPart<T>
}

export const terminalIdPart: PathPart<TerminalId> = part(
  { type: 'string', pattern: '^[a-f0-9]{8}$' },
  'VALIDATION',
  'a terminal id is 8 hexadecimal digits',
  parseTerminalId,
)

/** With or without its `cao-`. */
export const sessionNamePart: PathPart<SessionName> = part(
  { type: 'string', pattern: '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$' },
  'BAD_REQUEST',
  'a session name has letters, digits, "_" and "-", at most 64 with its "cao-" prefix',
  parseSessionName,
)

export const jobIdPart: PathPart<JobId> = part(
  { type: 'string', pattern: '^job-[a-f0-9]{16}$' },
  'VALIDATION',
  'a job id looks like job-0123456789abcdef',
  parseJobId,
)

export const messageIdPart: PathPart<MessageId> = part(
  { type: 'integer', minimum: 1 },
  'VALIDATION',
  'a message id is a positive whole number',
  (text) => (/^[1-9]\d{0,14}$/.test(text) ? trustMessageId(Number(text)) : undefined),
)

/** Any text: what it names is looked up. */
export const namePart: PathPart<string> = part(
  { type: 'string' },
  'NOT_FOUND',
  'there is nothing without a name',
  (text) => (text === '' ? undefined : text),
)
