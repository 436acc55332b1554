/**
 * Tells what happened, to any number of listeners, from the store's event rows. Subscribing gives the missed
 * events and the live ones in one step: JavaScript runs it whole, so nothing can slip in between.
 */
import type { DomainEvent, DomainEventBody } from '../domain/events.ts'
import { Emitter } from '../lib/emitter.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'
import type { Subscription } from './app.ts'

/** A subscriber that missed more than this reloads instead. */
export const missedMax = 2_000
/** Events kept in the store; older ones are an explicit gap. */
export const eventsKept = 100_000
const trimEvery = 5_000

export class EventStream {
  readonly #store: Store
  readonly #live: Emitter<DomainEvent>
  #sinceTrim = 0

  constructor(store: Store, log: Log) {
    this.#store = store
    this.#live = new Emitter((error) => log.write('error', 'event listener failed', { error: String(error) }))
  }

  /** Tells of an event whose transaction has ended. */
  readonly announce = (event: DomainEvent): void => {
    this.#live.emit(event)
    this.#sinceTrim++
    if (this.#sinceTrim < trimEvery) return
    this.#sinceTrim = 0
    this.#store.events.trim(eventsKept)
  }

  /** Writes an event that belongs to no other change, and tells of it. */
  append(body: DomainEventBody, atMs: number): void {
    this.announce(this.#store.transaction(() => this.#store.events.append(body, atMs)))
  }

  /** Of live events only; the listener must be quick. */
  get onEvent(): Emitter<DomainEvent>['on'] {
    return this.#live.on
  }

  subscribe(afterSeq: number | undefined, listener: (event: DomainEvent) => void): Subscription {
    const fromSeq = this.#store.events.lastSeq()
    const live = this.#live.on(listener)
    return {
      fromSeq,
      missed: this.#findMissed(afterSeq ?? fromSeq, fromSeq),
      [Symbol.dispose]: () => live[Symbol.dispose](),
    }
  }

  /** A page of what is kept; undefined when what follows `afterSeq` is kept no longer. */
  list(afterSeq: number, limit: number): readonly DomainEvent[] | undefined {
    if (afterSeq > this.#store.events.lastSeq() || afterSeq + 1 < this.#store.events.firstSeq()) return undefined
    return this.#store.events.listAfter(afterSeq, limit)
  }

  #findMissed(afterSeq: number, lastSeq: number): readonly DomainEvent[] | undefined {
    if (afterSeq === lastSeq) return []
    const isTooOld = afterSeq + 1 < this.#store.events.firstSeq()
    if (afterSeq > lastSeq || isTooOld || lastSeq - afterSeq > missedMax) return undefined
    return this.#store.events.listAfter(afterSeq, missedMax)
  }
}
