/** What an agent printed, on the wire. */
import { z } from 'zod'
import { numberField } from './fields.ts'

/** Units: bytes. As upstream. */
export const rangeLengthMax = 1024 * 1024

export const outputQuery = z.object({ mode: z.enum(['full', 'last', 'screen']).default('full') })
export const rangeQuery = z.object({
  offset: numberField.pipe(z.number().int().min(0)).default(0),
  length: numberField.pipe(z.number().int().min(1).max(rangeLengthMax)).default(rangeLengthMax),
})

export type OutputBody = {
  readonly output: string
  readonly mode: 'full' | 'last' | 'screen'
  /** Where it was read (transcript, screen, log …). */
  readonly source: string
  /** False: a later turn runs; this is the answer of the one before. */
  readonly is_current: boolean
}
/** Bytes as text; `next_offset` is where the next slice begins. Units: bytes of the log. */
export type OutputRangeBody = {
  readonly output: string
  readonly offset: number
  readonly length: number
  readonly next_offset: number
}
