/**
 * Parts that several bodies share: times, ids, texts with their limits, what a query can carry of them, and the sentence that says
 * which field is wrong. Every text that comes in has a limit with a name: what has none ends up in a command line or a row.
 */
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import { problemOf } from './problem.ts'
import { bodyBytesMax } from './version.ts'

/** Names of profiles, providers, models (which may be whole ARNs), keys of requests. Units: characters. */
export const nameLengthMax = 256
/** One tool name or pattern. Units: characters. */
export const toolLengthMax = 256
export const toolsMax = 256
/** As Linux's PATH_MAX. Units: characters. */
export const pathLengthMax = 4_096
/** Of a text to be typed: no less than a request may have, since the inbox counts bytes and says TOO_LARGE. Units: characters. */
export const messageLengthMax = bodyBytesMax
export const envNameLengthMax = 256
/** As Linux's MAX_ARG_STRLEN, beyond which no program starts. Units: characters. */
export const envValueLengthMax = 128 * 1024
export const envVariablesMax = 4_096

/** ISO 8601 in UTC, as in upstream's bodies. */
export const toTime = (atMs: number): string => new Date(atMs).toISOString()
export const toTimeOrNull = (atMs: number | undefined): string | null => (atMs === undefined ? null : toTime(atMs))

export const terminalIdField = z
  .string()
  .max(8, 'must be 8 hexadecimal digits')
  .regex(/^[a-f0-9]{8}$/, 'must be 8 hexadecimal digits')
export const timeField = z.string().meta({ format: 'date-time' })
export const nameField = z.string().min(1).max(nameLengthMax)

/** An empty text in a query, and null in a body, count as absent. */
export function optional<S extends z.ZodType>(schema: S) {
  const orAbsent = (value: z.input<S> | '' | null | undefined) => (value === '' || value === null ? undefined : value)
  return z.preprocess(orAbsent, schema.optional()).optional()
}
export const optionalName = optional(nameField)
export const optionalPath = optional(z.string().max(pathLengthMax))

/** A comma list in a query, a list in a body. */
export const listField = z.preprocess(
  (value: string | readonly string[]) => splitList(value),
  z.array(z.string().max(toolLengthMax)).max(toolsMax),
)
function splitList(value: unknown): unknown {
  const parts: unknown = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(parts)) return parts
  return parts.map((part: unknown) => (typeof part === 'string' ? part.trim() : part)).filter((part) => part !== '')
}

export const flagField = z.preprocess((value: boolean | string) => {
  if (value === 'true' || value === '1') return true
  return value === 'false' || value === '0' || value === '' ? false : value
}, z.boolean())

/** A number that may have come as text in a query; any other text stays one, and is no number. */
export function numberField<S extends z.ZodType>(schema: S) {
  const fromText = (value: number | string) =>
    typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value
  return z.preprocess(fromText, schema)
}

export const messageField = z.string().min(1).max(messageLengthMax)
/** Stands in a message's header, so it is one plain word. */
const senderPattern = /^[A-Za-z0-9_-]{1,64}$/
export const senderField = optional(
  z.string().max(64).regex(senderPattern, 'must be a terminal id or a plain name of at most 64 characters'),
)

const variableName = z
  .string()
  .max(envNameLengthMax)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be names of variables')
const hasFewVariables = (value: object) => Object.keys(value).length <= envVariablesMax
const tooManyVariables = `must be at most ${envVariablesMax} variables`
/** Variables for an agent. */
export const envField = z
  .record(variableName, z.string().max(envValueLengthMax))
  .refine(hasFewVariables, tooManyVariables)
/** A whole environment as a shell has it, odd names (such as exported functions) included. */
export const wholeEnvField = z
  .record(z.string().max(envNameLengthMax), z.string().max(envValueLengthMax))
  .refine(hasFewVariables, tooManyVariables)

/** The value as `schema` reads it. Errors: VALIDATION with a sentence that names the field, never its value. */
export function parseBody<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(value, { error: problemOf })
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.map(String).join('.')
    return field === '' ? issue.message : `${field}: ${issue.message}`
  })
  throw new AppError('VALIDATION', `${where} is not valid: ${problems.join('; ')}`, { data: { problems } })
}
