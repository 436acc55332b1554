/**
 * Is the server there? Three answers: present, absent, unknown. Absent is said only when tmux says
 * that nobody listens AND the recorded process is gone; a server that does not answer, that turns
 * everybody away, or whose socket file was removed is unknown, and unknown must change nothing.
 */
import type { Clock } from '../async/clock.ts'
import { existingServerArgs, type ServerAddress } from './address.ts'
import { classifyClientError } from './client-error.ts'
import { type ProcessIdentity, readProcessIdentity } from './process-identity.ts'
import { runProgram } from './run-program.ts'

export type ServerFacts = {
  readonly pid: number
  /** Seconds since 1970. */
  readonly startTimeS: number
  /** Empty on a server that nobody gave one. */
  readonly instance: string
  readonly version: string
}

export type Liveness =
  | { readonly kind: 'present'; readonly facts: ServerFacts }
  | { readonly kind: 'absent'; readonly detail: string }
  | {
      readonly kind: 'unknown'
      readonly why: 'no-answer' | 'refusing' | 'socket-removed' | 'no-program' | 'unreadable'
      readonly detail: string
    }

export const instanceOption = '@cao_instance'
const factsFormat = `#{pid} #{start_time} #{version} #{${instanceOption}}`
const probeTimeoutMs = 2_000

/** Asks with a process of its own, at most two seconds. `recorded` is the server that was last seen there. */
export async function probeLiveness(
  clock: Clock,
  address: ServerAddress,
  recorded?: ProcessIdentity,
): Promise<Liveness> {
  const result = await runProgram({
    clock,
    file: address.tmux,
    // A server of somebody else has our instance in an option of the keeper; where that is missing the rest is printed still.
    args: [...existingServerArgs(address), 'display-message', '-p', '-t', `=${address.keeperSession}:`, factsFormat],
    env: address.env,
    timeoutMs: probeTimeoutMs,
  })
  if (result.kind === 'timed-out')
    return { kind: 'unknown', why: 'no-answer', detail: `no answer in ${probeTimeoutMs} ms` }
  if (result.kind === 'not-started') return { kind: 'unknown', why: 'no-program', detail: result.detail }
  const facts = result.code === 0 ? parseFacts(result.stdout) : undefined
  if (facts !== undefined) return { kind: 'present', facts }
  const detail = result.stderr.trim()
  switch (classifyClientError(detail)) {
    case 'no-server': {
      const isAlive = recorded !== undefined && (await isSame(clock, recorded))
      return isAlive ? { kind: 'unknown', why: 'socket-removed', detail } : { kind: 'absent', detail }
    }
    case 'refusing':
      return { kind: 'unknown', why: 'refusing', detail }
    case 'no-target':
    case 'other':
      return { kind: 'unknown', why: 'unreadable', detail: detail === '' ? result.stdout.trim() : detail }
  }
}

async function isSame(clock: Clock, recorded: ProcessIdentity): Promise<boolean> {
  return (await readProcessIdentity(clock, recorded.pid))?.startedAt === recorded.startedAt
}

/** Reads what `factsFormat` printed. */
export function parseFacts(text: string): ServerFacts | undefined {
  const match = /^(\d+) (\d+) (\S+) (\S*)\n?$/.exec(text)
  if (match === null) return undefined
  const [, pid, startTimeS, version = '', instance = ''] = match
  return { pid: Number(pid), startTimeS: Number(startTimeS), version, instance }
}
