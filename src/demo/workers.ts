/**
 * What the demo's workers are. Scripted ones need nothing: they are what their supervisor is. The real OpenCode needs
 * profiles that name it, and a model server on this machine that obeys the same rules as the scripted agent.
 */
import { AppError } from '../domain/errors.ts'
import type { WorkerProvider } from './demo-options.ts'
import type { PrivateWorld } from './private-world.ts'

export type Workers = {
  /** Added to the world's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Ends what was started for them. */
  end(): Promise<void>
  /** Leaves it running without us. */
  leave(): void
}

export type WorkerOptions = {
  readonly world: PrivateWorld
  readonly provider: WorkerProvider
  readonly root: string
  readonly signal: AbortSignal
  readonly tell: (line: string) => void
}

const nothing: Workers = { env: {}, end: () => Promise.resolve(), leave: () => undefined }

export async function prepareWorkers(options: WorkerOptions): Promise<Workers> {
  if (options.provider === 'scripted') return nothing
  throw new AppError('PROVIDER_UNKNOWN', `workers of ${options.provider} are not there yet`)
}
