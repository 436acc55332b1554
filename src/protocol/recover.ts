/** Bodies of taking lost and exited agents up again. */
import { z } from 'zod'
import { envField, wholeEnvField } from './fields.ts'

export const recoverBody = z.object({
  env_vars: envField
    .nullish()
    .describe('Values of the variables that the agents were first started with; CAO keeps only their names'),
  client_env: wholeEnvField.nullish(),
})
export type RecoverParams = z.input<typeof recoverBody>

export const recoveredSchema = z
  .object({
    recovered: z.array(z.string()),
    errors: z.array(z.object({ id: z.string(), error: z.string() })),
  })
  .meta({ id: 'Recovered' })
export const adoptedSchema = z
  .object({
    adopted: z.array(z.string()),
    errors: z.array(z.object({ id: z.string(), error: z.string() })),
  })
  .meta({ id: 'Adopted' })
export type AdoptedBody = z.infer<typeof adoptedSchema>
export type RecoveredBody = z.infer<typeof recoveredSchema>
