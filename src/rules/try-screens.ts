/** What a provider's rules say of one screen, in the words of a status. Pure. */
import type { Claim } from '../domain/status.ts'
import { initialStatus, reduceStatus } from '../domain/status-reducer.ts'
import type { Provider } from '../providers/provider.ts'
import type { RuleMatch } from '../screen/rules.ts'
import type { Snapshot } from '../screen/snapshot.ts'

export type Tried = {
  /** As `cao ls` has it; a screen alone does not tell idle from completed: it is idle. */
  readonly status: string
  readonly reason: string
  readonly rule: string
  readonly region: string | undefined
  readonly text: string | undefined
  readonly origin: string | undefined
  readonly composer: string
}

export function tryScreen(provider: Provider, snapshot: Snapshot): Tried {
  const told = provider.screen?.explain(snapshot)
  const reading = told?.reading ?? provider.readScreen(snapshot)
  return {
    ...statusOf(reading.claim, told?.match),
    rule: reading.rule,
    region: told?.match?.rule.region,
    text: told?.match?.text,
    origin: told?.match === undefined ? undefined : (told.match.rule.origin ?? 'built in'),
    composer: reading.composer.kind,
  }
}

function statusOf(claim: Claim | undefined, match: RuleMatch | undefined): Pick<Tried, 'status' | 'reason'> {
  if (claim !== undefined) {
    // As the first thing that is heard of an agent.
    const { status, reason } = reduceStatus(initialStatus(0), { source: 'screen', claim, atMs: 1, raw: '' }, {})
    return { status, reason }
  }
  if (match?.rule.says === 'fresh') return { status: 'idle', reason: 'ready' }
  return { status: 'unknown', reason: match === undefined ? 'no rule' : match.rule.says }
}
