/** What every part of the app needs: memory, time, log, chance, places, and the two ways of telling. */
import type { Clock } from '../async/clock.ts'
import type { RandomHex } from '../domain/ids.ts'
import type { Ladder } from '../inbox/ladder.ts'
import type { Log } from '../lib/log.ts'
import type { HomeLayout } from '../protocol/home.ts'
import type { Store } from '../store/store.ts'
import type { EventStream } from './event-stream.ts'

export type CoreContext = {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly random: RandomHex
  readonly layout: HomeLayout
  readonly events: EventStream
  readonly ladder: Ladder
  /** Undefined: the usual ones. */
  readonly team?: TeamRules
}

/** What a person has set for how agents and people get along (`protocol/options.ts`). */
export type TeamRules = {
  /** Messages of agents in a row, each sent because of the one before, without a person or a job in between. */
  readonly hopsMax: number
  /** An interrupt by a person holds the queue. */
  readonly isHeldByInterrupt: boolean
}
export const teamRulesDefault: TeamRules = { hopsMax: 50, isHeldByInterrupt: false }
