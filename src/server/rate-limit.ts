/**
 * How often an actor may ask: one bucket of permits per actor, refilled with time. Whoever is over the limit is told when to come
 * again. A person on the Unix socket has no bucket: `cao` must always work.
 */
import type { Clock } from '../async/clock.ts'
import type { TerminalId } from '../domain/ids.ts'

export type RateLimit = { readonly perSecond: number; readonly burst: number }

export const rateLimits = {
  /** Whoever holds a token of the TCP door: people's scripts and pages, which may poll many agents. */
  people: { perSecond: 100, burst: 500 },
  /** Refused for a wrong or missing token or capability, all of one door together: it costs the right token nothing. */
  refused: { perSecond: 5, burst: 50 },
  /** Nobody in particular, asking whether there is a server. */
  probes: { perSecond: 20, burst: 200 },
  /** One agent that looks. Its tools poll each job that it has started. */
  agentReads: { perSecond: 200, burst: 1_000 },
  /** One agent that changes something: messages, jobs, launches. */
  agentActs: { perSecond: 20, burst: 200 },
} as const satisfies Readonly<Record<string, RateLimit>>

export type RateKey = `${keyof typeof rateLimits} ${TerminalId | 'tcp' | 'unix'}`

/** Of more buckets than this, the one that was used longest ago is forgotten. */
export const bucketsMax = 1_000

type Bucket = { permits: number; atMs: number; isRefusing: boolean }

export type Taken = {
  /** 0: the permit is given; else how long to wait for one. Units: ms. */
  readonly waitMs: number
  /** The first refusal after a permit. */
  readonly isNew: boolean
}

export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes one permit, if there is one. */
  take(key: RateKey): Taken {
    const limit: RateLimit = rateLimits[key.split(' ')[0] as keyof typeof rateLimits]
    const nowMs = this.#clock.monotonicMs()
    const bucket = this.#buckets.get(key) ?? { permits: limit.burst, atMs: nowMs, isRefusing: false }
    const permits = Math.min(limit.burst, bucket.permits + ((nowMs - bucket.atMs) / 1_000) * limit.perSecond)
    const isAllowed = permits >= 1
    this.#buckets.delete(key)
    this.#buckets.set(key, { permits: isAllowed ? permits - 1 : permits, atMs: nowMs, isRefusing: !isAllowed })
    if (this.#buckets.size > bucketsMax) this.#dropOldest()
    const waitMs = isAllowed ? 0 : Math.ceil(((1 - permits) / limit.perSecond) * 1_000)
    return { waitMs, isNew: !isAllowed && !bucket.isRefusing }
  }

  /** The one that was asked for longest ago. */
  #dropOldest(): void {
    const oldest = this.#buckets.keys().next()
    if (oldest.done !== true) this.#buckets.delete(oldest.value)
  }
}
