/**
 * What is heard of the workers of jobs, and what follows from it: a turn ended, the worker reports by itself, its task was not delivered,
 * it hangs, it is gone. Each ends its jobs in a typed way. Checks stand between an answer and the end.
 */
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { JobId, TerminalId } from '../domain/ids.ts'
import { type CheckResult, checkRoundsMax, isCorrectable, isJobOpen, type Job, type JobResult } from '../domain/job.ts'
import type { Message } from '../domain/message.ts'
import type { JobReport } from './app.ts'
import type { JobDoors, JobsContext } from './job-doors.ts'
import type { JobEnds } from './job-ends.ts'
import {
  describeCut,
  describeGone,
  failChecks,
  failure,
  formatFailedChecks,
  toResult,
  type WorkerEnd,
} from './job-words.ts'
import type { TurnEnd } from './runtime.ts'

/** For late proof, before a task that nothing proves is given up. Units: ms. */
export const unconfirmedGraceMs = 3_000
export class JobNews {
  readonly #context: JobsContext
  readonly #doors: JobDoors
  readonly #ends: JobEnds
  /** Whose checks run now. */
  readonly #checking = new Set<JobId>()

  constructor(context: JobsContext, doors: JobDoors, ends: JobEnds) {
    this.#context = context
    this.#doors = doors
    this.#ends = ends
  }

  /** Gives the worker a text whose answer is the job's. */
  tell(job: Job, workerId: TerminalId, body: string): void {
    const { store } = this.#context
    store.transaction(() => {
      const message = this.#doors.queue({
        kind: job.kind === 'step' ? 'input' : job.kind,
        senderId: job.callerId ?? 'user',
        receiverId: workerId,
        body,
        jobId: job.id,
      })
      store.jobs.setMessage(job.id, message.id)
    })
  }

  /** A turn of a worker ended: its message's job has its answer, or the reason why there is none. */
  noteTurnEnded(end: TurnEnd): void {
    for (const { id, jobId } of end.messages) {
      // Not the turn of a task that has been told anew since then.
      const job = jobId === undefined ? undefined : this.#context.store.jobs.find(jobId)
      if (job?.messageId === id) this.offer(job, toResult(end))
    }
  }

  /** What ended the turn of the job's message; checks may still stand between it and the end. */
  offer(job: Job, result: JobResult): void {
    const { store, scope } = this.#context
    const { request, claim } = job
    if (claim === undefined && result.failure !== undefined) return this.#ends.end(job.id, 'fail', result)
    if ((request.checks ?? []).length === 0) return this.#ends.end(job.id, 'answer', claim ?? result)
    if (!isJobOpen(job) && !isCorrectable(job)) return
    if (claim === undefined) store.jobs.setClaim(job.id, result, job.checksRun)
    scope.spawn(`checks of ${job.id}`, (signal) => this.check(job.id, signal))
  }

  /** Runs the checks of what the worker claims; the job ends by them, or goes on for one more round. */
  async check(id: JobId, signal: AbortSignal): Promise<void> {
    const { store } = this.#context
    const job = this.#ends.require(id)
    const { claim, workerId } = job
    const worker = workerId === undefined ? undefined : store.terminals.find(workerId)
    if (claim === undefined || this.#checking.has(id)) return
    if (worker === undefined) return this.failCut(job, describeGone(worker))
    this.#checking.add(id)
    const checks = await this.#doors.runChecks(worker, job, signal).finally(() => this.#checking.delete(id))
    if (checks === undefined) return
    if (checks.every(({ isPassed }) => isPassed)) return this.#ends.end(id, 'answer', { ...claim, checks })
    const rounds = job.checksRun + 1
    if (rounds < checkRoundsMax && isJobOpen(this.#ends.require(id)) && this.#tellFailed(job, worker.id, checks)) return
    this.#ends.end(id, 'fail', failChecks(claim, checks, rounds))
  }

  #tellFailed(job: Job, workerId: TerminalId, checks: readonly CheckResult[]): boolean {
    const { store, log } = this.#context
    try {
      store.transaction(() => {
        store.jobs.setClaim(job.id, undefined, job.checksRun + 1)
        this.tell(job, workerId, formatFailedChecks(checks))
      })
      return true
    } catch (error) {
      log.write('warn', 'worker not told of its checks', { jobId: job.id, error: describe(error) })
      return false
    }
  }

  /** The worker ends its job by itself. Errors: CONFLICT for one that has ended in another way. */
  report(id: JobId, { outcome, text }: JobReport): Job {
    const { store, runtimes } = this.#context
    const job = this.#ends.require(id)
    const ending = { done: 'reported', no_change_needed: 'no_change_needed', failed: 'reported_failure' } as const
    const isFailure = outcome === 'failed'
    const result: JobResult = {
      answer: isFailure ? undefined : text,
      failure: isFailure ? text : undefined,
      source: 'report',
      ending: ending[outcome],
    }
    if (!isJobOpen(job) && !isCorrectable(job)) {
      const { ending: how, answer, failure: why } = job.result ?? {}
      const isSame = how === result.ending && (answer ?? why) === text
      if (isSame) return job
      throw new AppError('CONFLICT', `job ${id} has ended already (${job.state}: ${job.result?.ending ?? 'unknown'})`)
    }
    if (isFailure) this.#ends.end(id, 'fail', result)
    else if ((job.request.checks ?? []).length === 0) this.#ends.end(id, 'answer', result)
    else {
      // The checks wait for the end of its turn, in which it may still be writing.
      store.jobs.setClaim(id, result, job.checksRun)
      const status = job.workerId === undefined ? undefined : runtimes.get(job.workerId)?.state.status
      if (status !== 'processing') this.offer(this.#ends.require(id), result)
    }
    return this.#ends.require(id)
  }

  /** The task's message ended badly: the job can not go on. */
  noteMessage(message: Message): void {
    const { jobId, state, detail } = message
    if (jobId === undefined || this.#context.store.jobs.find(jobId)?.messageId !== message.id) return
    if (state === 'refused' || state === 'undeliverable' || state === 'expired') {
      this.#ends.end(jobId, 'fail', failure('not_delivered', `the task was not delivered: ${detail ?? state}`))
    } else if (state === 'unconfirmed') {
      this.#context.scope.spawn(`proof for ${jobId}`, (signal) => this.#endUnconfirmed(message, jobId, signal))
    }
  }

  async #endUnconfirmed({ id, detail }: Message, jobId: JobId, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#context
    await sleep(clock, unconfirmedGraceMs, signal).catch(() => undefined)
    if (signal.aborted || store.messages.find(id)?.state !== 'unconfirmed') return
    const why = `nothing proves that its worker took the task (${detail ?? 'no more is known'})`
    const late = 'if it answers after all, you are told; the worker was left running'
    this.#ends.end(jobId, 'fail', failure('unconfirmed', `${why}; ${late}`))
  }

  /** A worker is gone: its open jobs fail with the reason. What is being checked has its answer already. */
  noteWorkerGone(workerId: TerminalId, end: WorkerEnd): void {
    for (const job of this.#context.store.jobs.listForWorker(workerId)) {
      if (isJobOpen(job) && job.claim === undefined) this.failCut(job, end)
    }
  }

  failCut(job: Job, end: WorkerEnd): void {
    const task = job.messageId === undefined ? undefined : this.#context.store.messages.find(job.messageId)
    this.#ends.end(job.id, 'fail', failure(end.ending, describeCut(task, end)))
  }

  /** A worker prints nothing and its turn does not end: whoever waits for it is told, and it is left running. */
  noteHung(workerId: TerminalId): void {
    const { store } = this.#context
    for (const job of store.jobs.listForWorker(workerId)) {
      const task = job.messageId === undefined ? undefined : store.messages.find(job.messageId)
      if (!isJobOpen(job) || task?.state === 'queued' || task === undefined) continue
      const why = `its worker ${workerId} hangs: its turn does not end and nothing moves on its screen`
      const late = 'if it answers after all, you are told; the worker was left running'
      this.#ends.end(job.id, 'fail', failure('hung', `${why}; ${late}`))
    }
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error))
