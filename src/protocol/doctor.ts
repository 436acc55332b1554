/** `GET /doctor`: what the server finds about its backend and about what is left over. */
import { z } from 'zod'

export const findingSchema = z
  .object({
    what: z.string(),
    level: z.enum(['ok', 'note', 'fail']),
    /** What was found, and what to do about it. */
    detail: z.string(),
  })
  .meta({ id: 'Finding' })
export type FindingBody = z.infer<typeof findingSchema>
