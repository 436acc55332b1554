/** `ErrorBody` as a schema, for the description of the interface. In a file of its own: clients read errors without a schema library. */
import { z } from 'zod'
import { type ErrorCode, errorTable } from '../domain/errors.ts'
import type { ErrorBody } from './error-body.ts'

const stepFailureSchema = z.object({
  message: z.string(),
  kind: z.enum(['error', 'timeout', 'cancelled']),
  terminal_id: z.string().nullable(),
})

export const errorSchema: z.ZodType<ErrorBody> = z
  .object({
    /** An object only for a failed step. */
    detail: z.union([z.string(), stepFailureSchema]),
    code: z.enum(Object.keys(errorTable) as ErrorCode[]),
    data: z.record(z.string(), z.unknown()).exactOptional(),
  })
  .meta({ id: 'Error' })
