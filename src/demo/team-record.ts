/**
 * What has happened so far, as far as the demo is judged by it: fed with every event, asked whether all is done and,
 * at the end, for everything that is not as it should be. Pure.
 */
import { badEndings, type DeliveryState } from '../domain/delivery.ts'
import type { JobKind, JobState } from '../domain/job.ts'
import type { MessageKind } from '../domain/message.ts'
import type { EventBody } from '../protocol/event.ts'
import type { TeamScript } from './team-script.ts'

type JobRecord = {
  readonly kind: JobKind
  state: JobState
  /** Seq at which it began to run, and at which it ended. */
  startedSeq: number | undefined
  endedSeq: number | undefined
  detail: string | undefined
}
type MessageRecord = {
  readonly kind: MessageKind
  readonly receiverId: string
  state: DeliveryState
  typedCount: number
  proof: string | undefined
  detail: string | undefined
}

export class TeamRecord {
  readonly #script: TeamScript
  readonly #jobs = new Map<string, JobRecord>()
  readonly #messages = new Map<number, MessageRecord>()
  #fatal: string | undefined

  constructor(script: TeamScript) {
    this.#script = script
  }

  note(event: EventBody): void {
    switch (event.type) {
      case 'job.created':
        this.#jobs.set(event.job_id, {
          kind: event.kind,
          state: 'created',
          startedSeq: undefined,
          endedSeq: undefined,
          detail: undefined,
        })
        return
      case 'job.state_changed':
        return this.#noteJob(event)
      case 'message.queued':
        this.#messages.set(event.message_id, {
          kind: event.kind,
          receiverId: event.receiver_id,
          state: 'queued',
          typedCount: 0,
          proof: undefined,
          detail: undefined,
        })
        return
      case 'message.state_changed':
        return this.#noteMessage(event)
      case 'backend.lost':
        this.#fatal = `${event.backend} is gone: ${event.reason}`
        return
      case 'session.created':
      case 'session.deleted':
      case 'terminal.created':
      case 'terminal.life_changed':
      case 'terminal.status_changed':
      case 'terminal.held':
      case 'terminal.released':
      case 'question.opened':
      case 'question.closed':
      case 'backend.ready':
      case 'recovery.finished':
      case 'loop.stopped':
      case 'message.dropped':
      case 'notify.failed':
      case 'person.typed':
      case 'turn.interrupted':
      case 'worktree.created':
      case 'worktree.kept':
      case 'worktree.missing':
      case 'worktree.removed':
        return
    }
  }

  #noteJob(event: EventBody & { readonly type: 'job.state_changed' }): void {
    const job = this.#jobs.get(event.job_id)
    if (job === undefined) return
    job.state = event.to
    job.detail = event.detail ?? undefined
    if (event.to === 'running') job.startedSeq = event.seq
    else job.endedSeq = event.seq
  }

  #noteMessage(event: EventBody & { readonly type: 'message.state_changed' }): void {
    const message = this.#messages.get(event.message_id)
    if (message === undefined) return
    message.state = event.to
    message.detail = event.detail ?? undefined
    if (event.to === 'typed') message.typedCount += 1
    if (event.to === 'confirmed') message.proof = event.detail ?? 'proven, without a word how'
  }

  #callbacks(): readonly MessageRecord[] {
    return [...this.#messages.values()].filter(({ kind }) => kind === 'callback')
  }

  /** Everybody has answered, and the supervisor has answered to both callbacks. */
  get isDone(): boolean {
    return this.#callbacks().filter(({ state }) => state === 'answered').length >= this.#script.assignCount
  }

  /** Why waiting makes no sense any more. */
  get fatal(): string | undefined {
    if (this.#fatal !== undefined) return this.#fatal
    const failed = [...this.#jobs].find(([, { state }]) => ['failed', 'timed_out', 'cancelled'].includes(state))
    if (failed !== undefined) return `${failed[0]} is ${failed[1].state}: ${failed[1].detail ?? 'no reason given'}`
    const bad = [...this.#messages].find(([, { state }]) => badEndings.includes(state))
    return bad === undefined ? undefined : `message ${bad[0]} is ${bad[1].state}: ${bad[1].detail ?? 'no reason given'}`
  }

  /** Sentences about everything that is not as it should be at the end; `answer` is the supervisor's last one. */
  problems(answer: string): readonly string[] {
    const { assignCount, handoffCount, parts } = this.#script
    const jobs = [...this.#jobs.values()]
    const answered = (kind: JobKind) => jobs.filter((job) => job.kind === kind && job.state === 'answered').length
    const missing = parts.filter((part) => !answer.includes(part))
    const claims: readonly (readonly [boolean, string])[] = [
      [answered('assign') === assignCount, `${answered('assign')} of ${assignCount} assigned tasks were answered`],
      [
        answered('handoff') === handoffCount,
        `${answered('handoff')} of ${handoffCount} handed off tasks were answered`,
      ],
      [this.#wereSideBySide(), 'the assigned tasks did not run side by side'],
      [
        this.#callbacks().length === assignCount,
        `${this.#callbacks().length} callbacks came instead of ${assignCount}`,
      ],
      [missing.length === 0, `the answer lacks: ${missing.join(' | ')}`],
    ]
    return [...claims.filter(([holds]) => !holds).map(([, sentence]) => sentence), ...this.#messageProblems()]
  }

  /** Each began before any of them had ended. */
  #wereSideBySide(): boolean {
    const assigned = [...this.#jobs.values()].filter(({ kind }) => kind === 'assign')
    const lastStart = Math.max(...assigned.map(({ startedSeq }) => startedSeq ?? Number.POSITIVE_INFINITY))
    const firstEnd = Math.min(...assigned.map(({ endedSeq }) => endedSeq ?? Number.POSITIVE_INFINITY))
    return lastStart < firstEnd
  }

  #messageProblems(): readonly string[] {
    return [...this.#messages].flatMap(([id, { state, typedCount, proof }]) => [
      ...(typedCount === 1 ? [] : [`message ${id} was typed ${typedCount} times`]),
      ...(proof === undefined ? [`message ${id} arrived without proof`] : []),
      ...(state === 'answered' ? [] : [`message ${id} is ${state} at the end`]),
    ])
  }

  get messageCount(): number {
    return this.#messages.size
  }
}
