/** What an agent printed, on the wire. */
import { z } from 'zod'
import { numberField } from './fields.ts'

/** Units: bytes. As upstream. */
export const rangeLengthMax = 1024 * 1024

const outputModes = ['full', 'last', 'screen'] as const
export const outputQuery = z.object({ mode: z.enum(outputModes).default('full') })
export const rangeQuery = z.object({
  offset: numberField(z.number().int().min(0)).default(0).describe('Of the first byte of the slice'),
  length: numberField(z.number().int().min(1).max(rangeLengthMax))
    .default(rangeLengthMax)
    .describe('In bytes, at most'),
})

export const outputSchema = z
  .object({
    output: z.string(),
    mode: z.enum(outputModes),
    /** Where it was read (transcript, screen, log …). */
    source: z.string(),
    /** False: a later turn runs; this is the answer of the one before. */
    is_current: z.boolean(),
    /** True: more was printed than is here; slices of the log (`/output/range`) hold it all. */
    is_truncated: z.boolean().describe('True: more was printed than is here; `/output/range` gives all of it'),
  })
  .meta({ id: 'Output' })
export type OutputBody = z.infer<typeof outputSchema>

/** Bytes as text; `next_offset` is where the next slice begins. Units: bytes of the log. */
export const outputRangeSchema = z
  .object({ output: z.string(), offset: z.number().int(), length: z.number().int(), next_offset: z.number().int() })
  .meta({ id: 'OutputRange' })
export type OutputRangeBody = z.infer<typeof outputRangeSchema>
