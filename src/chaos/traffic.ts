/** Sends what the plan says, in time, whatever state CAO is in; a send that nobody answers is given again under the same uuid. */
import { randomUUID } from 'node:crypto'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { Ledger, Send } from './ledger.ts'
import { ourName } from './ledger.ts'
import type { Stage } from './stage.ts'
import type { Member, Team } from './team.ts'
import { askingText, jobText, markerOf, plainText, relayText, type TrafficStep } from './traffic-plan.ts'

const sendLimitMs = 5_000
const retryGapMs = 400
/** Longer than any fault lasts, with the restart after it. */
const giveUpMs = 90_000
/** Sends under way at once; the plan waits when there are as many. */
const openMax = 200

export class Traffic {
  readonly #stage: Stage
  readonly #team: Team
  readonly #ledger: Ledger
  readonly #seed: number
  readonly #open = new Set<Promise<void>>()
  #count = 0

  constructor(stage: Stage, team: Team, options: { readonly ledger: Ledger; readonly seed: number }) {
    this.#stage = stage
    this.#team = team
    this.#ledger = options.ledger
    this.#seed = options.seed
  }

  /** Resolves when every send of the plan has its answer. Errors: bugs only. */
  async run(plan: readonly TrafficStep[]): Promise<void> {
    const { clock, parts } = this.#stage
    const startMs = clock.monotonicMs()
    for (const step of plan) {
      const waitMs = startMs + step.atMs - clock.monotonicMs()
      if (waitMs > 0) await sleep(clock, waitMs, parts.signal)
      while (this.#open.size >= openMax) await Promise.race(this.#open)
      const receiver = this.#team.at(step.slot)
      if (receiver !== undefined) this.#begin(step, receiver)
    }
    await Promise.all(this.#open)
  }

  /** One more message, beside the plan. */
  readonly write = (receiver: Member): void => {
    this.#begin({ atMs: 0, kind: 'message', slot: receiver.slot, to: [], lines: 0, asks: false }, receiver)
  }

  #begin(step: TrafficStep, receiver: Member): void {
    const work: Promise<void> = this.#perform(step, receiver).finally(() => this.#open.delete(work))
    this.#open.add(work)
    // An interrupted run leaves before it has asked each of them.
    work.catch(() => undefined)
  }

  #nextMarker(): string {
    return markerOf(this.#seed, ++this.#count)
  }

  #perform(step: TrafficStep, receiver: Member): Promise<void> {
    const marker = this.#nextMarker()
    const send = this.#ledger.note({ marker, via: 'http', senderId: ourName, receiverId: receiver.id })
    return this.#give(send, this.#textOf(step, marker, receiver))
  }

  #textOf(step: TrafficStep, marker: string, actor: Member): string {
    switch (step.kind) {
      case 'message':
        return step.asks ? askingText(marker) : plainText(marker, step.lines)
      case 'relay': {
        const targets = step.to.flatMap((slot) => this.#team.at(slot) ?? [])
        const sends = targets.map(({ id }) => ({ receiverId: id, marker: this.#nextMarker() }))
        for (const one of sends) this.#ledger.note({ ...one, via: 'agent', senderId: actor.id })
        return relayText(marker, sends)
      }
      case 'assign':
      case 'handoff': {
        const job = this.#nextMarker()
        this.#ledger.jobs.push({ marker: job, kind: step.kind, callerId: actor.id })
        return jobText(marker, step.kind, job, step.asks)
      }
    }
  }

  async #give(send: Send, message: string): Promise<void> {
    const { clock, client, parts } = this.#stage
    const uuid = randomUUID()
    const endMs = clock.monotonicMs() + giveUpMs
    for (;;) {
      try {
        const params = { message, sender_id: ourName, uuid }
        const sent = await client.sendMessage(send.receiverId, params, { signal: parts.signal, timeoutMs: sendLimitMs })
        send.isAccepted = sent.success
        send.messageId = sent.message_id
        return
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        // The receiver has ended: not accepted, and said so.
        if (error.code === 'BLOCKED' || error.code === 'NOT_FOUND') {
          this.#ledger.refusedCount++
          return
        }
        if (clock.monotonicMs() > endMs) {
          parts.say(`  ${send.marker} was never answered: ${error.message}`)
          return
        }
        this.#ledger.retryCount++
        await sleep(clock, retryGapMs, parts.signal)
      }
    }
  }
}
