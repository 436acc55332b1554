/**
 * The end of a job: the row moves once, whoever waits is woken, the asker is told (`job-reports.ts`), and a worker that was made for
 * the job ends with its answer.
 *
 * The first end wins. `unconfirmed`, `hung` and a deadline only say that CAO has not heard: an exact answer that comes after
 * all corrects them, once, unless the job was tried anew meanwhile.
 */
import { sleep, type Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { JobId, MessageId, TerminalId } from '../domain/ids.ts'
import { isCorrectable, isJobOpen, type Job, type JobResult, type JobStep } from '../domain/job.ts'
import { Emitter } from '../lib/emitter.ts'
import type { JobDoors, JobsContext } from './job-doors.ts'
import { JobReports } from './job-reports.ts'

/** For a worker that has reported to end its turn, before it is ended. Units: ms. */
const lastWordsMs = 30_000
const lastWordsLookMs = 250

export class JobEnds {
  readonly #context: JobsContext
  readonly #doors: JobDoors
  readonly #ended: Emitter<Job>
  readonly #reports: JobReports

  constructor(context: JobsContext, doors: JobDoors) {
    this.#context = context
    this.#doors = doors
    this.#reports = new JobReports(context, doors.queue)
    this.#ended = new Emitter((error) => context.log.write('error', 'job listener failed', { error: String(error) }))
  }

  /** Errors: NOT_FOUND. */
  require(id: JobId): Job {
    const job = this.#context.store.jobs.find(id)
    if (job === undefined) throw new AppError('NOT_FOUND', `there is no job ${id}`)
    return job
  }

  /** Ends that the last server could not bring to their askers. */
  resume(): void {
    this.#reports.resume()
  }

  /** Ends a job once; the first ending wins, or a late answer corrects it. Reports it and ends the worker where the job says so. */
  end(id: JobId, step: Exclude<JobStep, 'start' | 'correct'>, result: JobResult): void {
    const before = this.require(id)
    const isLate = !isJobOpen(before)
    if (isLate && (step !== 'answer' || !isCorrectable(before) || this.#context.store.jobs.findRetry(id))) return
    const job = this.step(id, isLate ? 'correct' : step, result)
    if (job === undefined) return
    if (job.messageId !== undefined) this.#dropTask(job, job.messageId)
    this.#reports.noteEnded(job, isLate && before.isReported)
    const { workerId } = job
    if (job.teardown && workerId !== undefined && step === 'answer') {
      this.#context.scope.spawn(`end of worker ${workerId}`, async (signal) => {
        if (result.source === 'report') await this.#awaitRest(workerId, signal)
        if (!signal.aborted) await this.#doors.deleteTerminal(workerId)
      })
    }
    this.#ended.emit(job)
  }

  /** What still waits to be typed is moot: nobody wants its answer any more. */
  #dropTask({ id, state }: Job, messageId: MessageId): void {
    const { store, ladder } = this.#context
    if (store.messages.find(messageId)?.state !== 'queued') return
    ladder.step(messageId, 'expire', `its job ${id} has ended (${state})`)
  }

  /** Until the turn in which it reported has ended, so that it is not cut off in its last words. */
  async #awaitRest(workerId: TerminalId, signal: AbortSignal): Promise<void> {
    const { clock, runtimes } = this.#context
    const endMs = clock.monotonicMs() + lastWordsMs
    while (runtimes.get(workerId)?.state.status === 'processing' && clock.monotonicMs() < endMs) {
      await sleep(clock, lastWordsLookMs, signal).catch(() => undefined)
      if (signal.aborted) return
    }
  }

  /** Resolves with the job once it has ended, or as it stands after `waitMs` or on abort. */
  async wait(id: JobId, waitMs: number, waiting: Waiting): Promise<Job> {
    const { clock, store } = this.#context
    this.require(id)
    const job = await new Promise<Job>((resolve) => {
      const finish = () => {
        subscription[Symbol.dispose]()
        timer[Symbol.dispose]()
        waiting.signal.removeEventListener('abort', finish)
        resolve(this.require(id))
      }
      const subscription = this.#ended.on((ended) => {
        if (ended.id === id) finish()
      })
      const timer = clock.after(waitMs, finish)
      waiting.signal.addEventListener('abort', finish, { once: true })
      if (!isJobOpen(this.require(id)) || waiting.signal.aborted) finish()
    })
    if (!isJobOpen(job) && !waiting.signal.aborted) store.jobs.claimReport(id)
    return job
  }

  /** Ends the worker that was made for the job; any other is interrupted. */
  stopWork({ id, teardown, workerId }: Job): void {
    if (workerId === undefined) return
    const stop = teardown ? this.#doors.deleteTerminal : this.#doors.interrupt
    this.#context.scope.spawn(`work of ${id}`, async () => {
      await stop(workerId).catch((error: unknown) => {
        // It has ended by itself.
        if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
      })
    })
  }

  /** Row and event in one transaction. Undefined: the table forbids it. */
  step(id: JobId, step: JobStep, result: JobResult | undefined): Job | undefined {
    const { store, clock, events, log } = this.#context
    const atMs = clock.nowMs()
    const done = store.transaction(() => {
      const moved = store.jobs.step(id, step, { atMs, ...(result === undefined ? {} : { result }) })
      if (moved.kind !== 'moved') return undefined
      const { row: job } = moved
      const from = moved.from as Job['state']
      const { kind, workerId, state: to } = job
      const event = store.events.append(
        { type: 'job.state_changed', jobId: id, kind, workerId, from, to, detail: result?.failure },
        atMs,
      )
      return { job, event }
    })
    if (done === undefined) return undefined
    log.write('info', 'job moved', { jobId: id, to: done.job.state, because: result?.failure })
    events.announce(done.event)
    return done.job
  }
}
