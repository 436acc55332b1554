/** Bodies of forgetting what ended long ago. */
import { z } from 'zod'
import { flagField, numberField } from './fields.ts'

/** Ten years. Units: s. */
const olderThanMaxS = 10 * 366 * 24 * 3600

export const purgeBody = z.object({
  /** What ended longer ago than this is forgotten; the server's `retention.days` when it is not said. */
  older_than_s: numberField(z.number().int().min(0).max(olderThanMaxS)).optional(),
  /** Nothing is changed; the answer says what would be. */
  dry_run: flagField.optional(),
})
export type PurgeParams = { readonly older_than_s?: number; readonly dry_run?: boolean }

export const purgedSchema = z
  .object({
    /** Exited and lost agents whose records were ended. */
    ended: z.array(z.string()),
    terminals: z.number(),
    messages: z.number(),
    jobs: z.number(),
    questions: z.number(),
    events: z.number(),
  })
  .meta({ id: 'Purged' })
export type PurgedBody = z.infer<typeof purgedSchema>
