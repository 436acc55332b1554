/** Bodies of taking lost and exited agents up again. */
import { z } from 'zod'

export const recoverBody = z.object({
  /** Values of the variables that the agents were first started with; CAO keeps only their names. */
  env_vars: z.record(z.string(), z.string()).nullish(),
  client_env: z.record(z.string(), z.string()).nullish(),
})
export type RecoverParams = z.input<typeof recoverBody>

export type RecoveredBody = {
  readonly recovered: readonly string[]
  readonly errors: readonly { readonly id: string; readonly error: string }[]
}
