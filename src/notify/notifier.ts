/**
 * Tells a person over one channel. The event log is the queue: what stands behind the cursor (a fact in the store) and is still
 * true is due. So a restart loses nothing, a question that was answered meanwhile is not told, one question is told once, and the
 * rest of CAO never waits: an event only wakes the loop here. A burst is one call; quiet hours end with one digest.
 */
import type { Clock } from '../async/clock.ts'
import { SignalLatch } from '../async/signal-latch.ts'
import { sleep } from '../async/wait.ts'
import type { DomainEvent } from '../domain/events.ts'
import { isQuiet, minuteOfDay, type NoticeKind, type QuietHours } from '../domain/notice-kind.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'
import type { Channel, ToldOutcome } from './channel.ts'
import { formatPayload, type Notice, type NoticePayload, type Told, toNotice, type Who } from './notice.ts'

export type NotifyRules = {
  readonly kinds: ReadonlySet<NoticeKind>
  readonly quiet: QuietHours | undefined
  /** How long a burst is gathered. Units: ms. */
  readonly batchMs: number
}

export type NotifierOptions = {
  readonly channel: Channel
  readonly rules: NotifyRules
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** Whether it is still so, and still news. */
  readonly isDue: (notice: Notice) => boolean
  readonly who: (notice: Notice) => Who | undefined
  /** All tries were in vain. */
  readonly onGivenUp: (channel: string, count: number, why: string) => void
}

export type NotifierState = {
  readonly channel: string
  readonly due: number
  readonly last: { readonly atMs: number; readonly isTold: boolean; readonly detail: string } | undefined
}

/** Between the tries of one telling. */
export const retryPausesMs = [2_000, 10_000, 30_000, 120_000] as const
/** Read at once from the log. */
const pageMax = 1_000
/** Due at the same time; more are counted. */
export const dueMax = 500
/** The cursor follows what is no news at least this often, and the end of quiet hours is looked for. */
const lookEveryMs = 60_000

type Due = { readonly notices: readonly Notice[]; readonly toSeq: number; readonly isGap: boolean }

export class Notifier {
  readonly #options: NotifierOptions
  readonly #latch = new SignalLatch()
  #cursor: number
  #last: NotifierState['last']

  /** Begins with what happens from now on, or where an earlier server stood. */
  constructor(options: NotifierOptions) {
    this.#options = options
    const known = Number.parseInt(options.store.getFact(this.#fact) ?? '', 10)
    this.#cursor = Number.isSafeInteger(known) ? known : options.store.events.lastSeq()
    this.#save(this.#cursor)
  }

  get state(): NotifierState {
    return { channel: this.#options.channel.name, due: this.#findDue().notices.length, last: this.#last }
  }

  /** Quick, and never throws: for the listeners of events. */
  readonly note = (event: DomainEvent): void => {
    const notice = toNotice(event)
    if (notice !== undefined && this.#options.rules.kinds.has(notice.kind)) this.#latch.raise()
  }

  /** Until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, rules } = this.#options
    while (!signal.aborted) {
      const due = this.#findDue()
      if (due.notices.length === 0 && !due.isGap) {
        this.#save(due.toSeq)
        await this.#latch.wait(clock, lookEveryMs, signal)
        continue
      }
      await sleep(clock, rules.batchMs, signal)
      const wasQuiet = await this.#passQuietHours(signal)
      await this.#tell(this.#findDue(), wasQuiet ? 'digest' : 'notices', signal)
    }
  }

  async #passQuietHours(signal: AbortSignal): Promise<boolean> {
    const { clock, rules } = this.#options
    let wasQuiet = false
    while (rules.quiet !== undefined && isQuiet(rules.quiet, minuteOfDay(clock.nowMs()))) {
      wasQuiet = true
      // In slices, so that a machine that slept or a changed clock is noticed.
      await sleep(clock, lookEveryMs, signal)
    }
    return wasQuiet
  }

  async #tell(due: Due, type: NoticePayload['type'], signal: AbortSignal): Promise<void> {
    const { clock, log, channel, onGivenUp } = this.#options
    let outcome: ToldOutcome | undefined
    for (const pauseMs of [0, ...retryPausesMs]) {
      await sleep(clock, pauseMs, signal)
      const notices = due.notices.filter(this.#options.isDue).map((notice) => this.#name(notice))
      if (notices.length === 0 && !due.isGap) break
      outcome = await channel.tell(formatPayload({ notices, type, nowMs: clock.nowMs(), isGap: due.isGap }), { signal })
      const detail = outcome.kind === 'told' ? outcome.detail : outcome.why
      this.#last = { atMs: clock.nowMs(), isTold: outcome.kind === 'told', detail }
      log.write(outcome.kind === 'told' ? 'info' : 'warn', `person ${outcome.kind === 'told' ? '' : 'not '}told`, {
        channel: channel.name,
        notices: notices.length,
        said: detail,
      })
      if (outcome.kind === 'told' || outcome.isFinal) break
    }
    this.#save(due.toSeq)
    if (outcome?.kind === 'failed') onGivenUp(channel.name, due.notices.length, outcome.why)
  }

  #name(notice: Notice): Told {
    return { ...notice, who: this.#options.who(notice) }
  }

  /** What stands behind the cursor and is due. Beyond `dueMax` the rest waits for the next telling. */
  #findDue(): Due {
    const { store, rules, isDue } = this.#options
    const { events } = store
    // An emptied or replaced store begins anew.
    if (this.#cursor > events.lastSeq()) this.#cursor = events.lastSeq()
    const isGap = this.#cursor + 1 < events.firstSeq()
    const notices: Notice[] = []
    let toSeq = isGap ? events.firstSeq() - 1 : this.#cursor
    for (let page = events.listAfter(toSeq, pageMax); page.length > 0; page = events.listAfter(toSeq, pageMax)) {
      for (const event of page) {
        toSeq = event.seq
        const notice = toNotice(event)
        if (notice !== undefined && rules.kinds.has(notice.kind) && isDue(notice)) notices.push(notice)
        if (notices.length >= dueMax) return { notices, toSeq, isGap }
      }
    }
    return { notices, toSeq, isGap }
  }

  get #fact(): string {
    return `notify_cursor:${this.#options.channel.name}`
  }

  /** A full disk costs a second telling after a restart, and nothing now. */
  #save(seq: number): void {
    if (this.#cursor === seq && this.#options.store.getFact(this.#fact) === String(seq)) return
    this.#cursor = seq
    try {
      this.#options.store.setFact(this.#fact, String(seq))
    } catch (error) {
      this.#options.log.write('warn', 'cursor of the notices not saved', { error: String(error) })
    }
  }
}
