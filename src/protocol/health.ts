/** What a server says about itself. The first block is upstream's and needs no token; the rest is for those who may ask. */
import { z } from 'zod'

export const healthSchema = z
  .object({
    status: z.literal('ok'),
    service: z.string(),
    terminal_backend: z.string(),
    components: z.record(z.string(), z.enum(['ok', 'unavailable'])),
    protocol_version: z.number(),
    version: z.string(),
    // Left out for those without a token.
    pid: z.number().optional(),
    home: z.string().optional(),
    started_at: z.string().optional(),
    backend: z
      .object({
        name: z.string(),
        version: z.string(),
        state: z.enum(['ready', 'starting', 'gone']),
        details: z.record(z.string(), z.string()),
      })
      .optional(),
    terminals: z.number().optional(),
    last_recovery: z.record(z.string(), z.unknown()).nullish(),
    last_event_seq: z.number().optional(),
  })
  .meta({ id: 'Health' })
export type HealthBody = z.infer<typeof healthSchema>
