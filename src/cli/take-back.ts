/** Takes a launch back that its person broke off: the session ends again, even one that only comes into being now. */
import { sleep } from '../async/wait.ts'
import type { Client } from '../client/client.ts'
import { AppError } from '../domain/errors.ts'
import type { CliContext } from './command.ts'

/** The person has pressed Ctrl-C and waits. Units: ms. */
const takeBackLimitMs = 5_000
/** A launch that is under way makes its session only when its profile is read: as long has the session to stay away. Units: ms. */
const awayMs = 1_000
const pollMs = 100

type Launch = { readonly client: Client; readonly context: CliContext; readonly sessionName: string }

/** False when the agent may still be there after some seconds. Errors: none. */
export async function takeBack({ client, context: { clock }, sessionName }: Launch): Promise<boolean> {
  const endMs = clock.monotonicMs() + takeBackLimitMs
  let awaySinceMs: number | undefined
  for (let nowMs = clock.monotonicMs(); nowMs < endMs; nowMs = clock.monotonicMs()) {
    const outcome = await tryDelete(client, sessionName, endMs - nowMs)
    if (outcome === 'ended') return true
    if (outcome === 'failed') awaySinceMs = undefined
    else awaySinceMs ??= nowMs
    if (awaySinceMs !== undefined && clock.monotonicMs() - awaySinceMs > awayMs) return true
    await sleep(clock, pollMs)
  }
  return false
}

async function tryDelete(
  client: Client,
  name: string,
  timeoutMs: number,
): Promise<'ended' | 'was not there' | 'failed'> {
  try {
    const { deleted, errors } = await client.deleteSession(name, { timeoutMs: Math.ceil(timeoutMs) })
    if (errors.length > 0) return 'failed'
    // The session of a launch stands for a moment before its agent does.
    return deleted.length > 0 ? 'ended' : 'was not there'
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code === 'NOT_FOUND' ? 'was not there' : 'failed'
  }
}
