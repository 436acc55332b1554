/**
 * Keeps agents from waking each other for ever. A message that an agent sends because of a message of an agent is one hop
 * further; what a person or a job gave it begins anew. The row of what the agent took last says where it stands.
 */
import { AppError } from '../domain/errors.ts'
import { parseTerminalId, type TerminalId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { AppContext } from './context.ts'
import { type CoreContext, teamRulesDefault } from './core-context.ts'

export type HopsContext = CoreContext & Pick<AppContext, 'runtimes'>

/** Of the next message that this agent sends. */
export function countHops({ store, runtimes }: HopsContext, senderId: TerminalId): number {
  const last = store.messages.findNewestTaken(senderId)
  if (last === undefined || isFreshInput(last)) return 1
  const typedAtMs = runtimes.get(senderId)?.people.typedAtMs
  return typedAtMs !== undefined && typedAtMs >= last.updatedAtMs ? 1 : (last.hops ?? 0) + 1
}

const isFreshInput = ({ jobId, kind, senderId }: Message): boolean =>
  jobId !== undefined || (kind !== 'notice' && kind !== 'digest' && parseTerminalId(senderId) === undefined)

/** The person is told when it is reached, and not again by each try after that. Errors: LIMIT_REACHED. */
export function requireHops(context: HopsContext, hops: number, senderId: TerminalId, receiverId: TerminalId): void {
  const { store, clock, events, team = teamRulesDefault } = context
  if (hops <= team.hopsMax) return
  const told = `loop_told ${senderId}`
  const newest = String(store.messages.findNewestTaken(senderId)?.id ?? 0)
  if (store.getFact(told) !== newest) {
    const event = store.transaction(() => {
      store.setFact(told, newest)
      return store.events.append(
        { type: 'loop.stopped', terminalId: receiverId, senderId, hops: team.hopsMax },
        clock.nowMs(),
      )
    })
    events.announce(event)
  }
  throw new AppError(
    'LIMIT_REACHED',
    `not sent: ${team.hopsMax} messages went between agents, each because of the one before, and no person and no job in between. ` +
      'The person has been told; wait for them (limits.hops)',
    { data: { hops, limit: team.hopsMax } },
  )
}
