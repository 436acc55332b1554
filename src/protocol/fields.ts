/**
 * Parts that several bodies share: times, ids, lists in a query, and the sentence that says which field is wrong.
 */
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'

/** ISO 8601 in UTC, as in upstream's bodies. */
export const toTime = (atMs: number): string => new Date(atMs).toISOString()
export const toTimeOrNull = (atMs: number | undefined): string | null => (atMs === undefined ? null : toTime(atMs))

export const terminalIdField = z.string().regex(/^[a-f0-9]{8}$/, 'must be 8 hexadecimal digits')
export const timeField = z.string()
/** A comma list in a query, a list in a body. */
export const listField = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (Array.isArray(value) ? value : value.split(',')).map((part) => part.trim()).filter(Boolean))
export const flagField = z
  .union([z.boolean(), z.enum(['true', 'false', '1', '0', ''])])
  .transform((value) => value === true || value === 'true' || value === '1')
/** A number that may have come as text in a query; an empty text is no number. */
export const numberField = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d+(\.\d+)?$/, 'must be a number')
      .transform(Number),
  ])
  .pipe(z.number())
export const messageField = z.string().min(1, 'must not be empty')
/** Stands in a message's header, so it is one plain word. */
const senderPattern = /^[A-Za-z0-9_-]{1,64}$/
/** An empty text in a query counts as absent. */
export const optionalText = z
  .string()
  .nullish()
  .transform((value) => (value === null || value === '' ? undefined : value))
export const senderField = optionalText.pipe(
  z.string().regex(senderPattern, 'must be a terminal id or a plain name').optional(),
)

export const envField = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be names of variables'), z.string())

/** The value as `schema` reads it. Errors: VALIDATION with a sentence that names the field, never its value. */
export function parseBody<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.map(String).join('.')
    return field === '' ? issue.message : `${field}: ${issue.message}`
  })
  throw new AppError('VALIDATION', `${where} is not valid: ${problems.join('; ')}`, { data: { problems } })
}
