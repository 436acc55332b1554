/**
 * Delegated work as durable rows. A job starts a worker (or takes a running one), sends it the task, and ends
 * with the worker's exact answer or with the reason why there is none. An asker that waits fetches the end; one
 * that went on is called back through its inbox. After a restart open jobs go on from their rows.
 */
import { sleep, type Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { type JobId, makeJobId, makeSessionName, type SessionName, type TerminalId } from '../domain/ids.ts'
import { isJobOpen, type Job, type JobResult, type JobStep } from '../domain/job.ts'
import type { Message, MessageKind } from '../domain/message.ts'
import type { Terminal } from '../domain/terminal.ts'
import { Emitter } from '../lib/emitter.ts'
import { jobWaitMaxS } from '../protocol/version.ts'
import type { CreateTerminal, StartJob } from './app.ts'
import type { AppContext } from './context.ts'
import type { CoreContext } from './core-context.ts'
import type { TurnEnd } from './runtime.ts'

/** What jobs need of the other use cases. */
export type JobDoors = {
  /** Starts a worker; `isReady` settles when it takes input. */
  readonly startWorker: (
    sessionName: SessionName,
    request: CreateTerminal,
    waiting: Waiting,
  ) => Promise<{ readonly id: TerminalId; readonly isReady: Promise<void> }>
  readonly queue: (message: {
    readonly kind: MessageKind
    readonly senderId: string
    readonly receiverId: TerminalId
    readonly body: string
    readonly jobId: JobId | undefined
  }) => Message
  readonly deleteTerminal: (id: TerminalId) => Promise<void>
  /** Stops what the agent is doing and leaves it alive. */
  readonly interrupt: (id: TerminalId) => Promise<void>
}

/** An asker asks again at least this often; later it is taken to have gone. */
const fetchGraceMs = (jobWaitMaxS + 15) * 1_000

/** What jobs need of the app. */
export type JobsContext = CoreContext & Pick<AppContext, 'scope' | 'profiles' | 'runtimes'>

export class Jobs {
  readonly #context: JobsContext
  readonly #doors: JobDoors
  readonly #ended: Emitter<Job>

  constructor(context: JobsContext, doors: JobDoors) {
    this.#context = context
    this.#doors = doors
    this.#ended = new Emitter((error) => context.log.write('error', 'job listener failed', { error: String(error) }))
  }

  require(id: JobId): Job {
    const job = this.#context.store.jobs.find(id)
    if (job === undefined) throw new AppError('NOT_FOUND', `there is no job ${id}`)
    return job
  }

  /** Creates the job, or finds it by the caller's request key, and starts it in the background. */
  async start(request: StartJob, waiting: Waiting): Promise<Job> {
    const { store, clock, events, random, scope, profiles } = this.#context
    if (request.reuseTerminalId === undefined) await profiles.load(request.profileName)
    waiting.signal.throwIfAborted()
    const nowMs = clock.nowMs()
    const created = store.transaction(() => {
      const { job, isNew } = store.jobs.insert({
        id: makeJobId(random),
        kind: request.kind,
        callerId: request.callerId,
        profileName: request.profileName,
        task: request.task,
        requestKey: request.requestKey,
        deadlineAtMs: nowMs + request.timeoutMs,
        teardown: request.teardown,
        request: {},
        retryOf: undefined,
        createdAtMs: nowMs,
      })
      if (!isNew) return { job, event: undefined }
      const { id: jobId, kind, callerId, profileName } = job
      return { job, event: store.events.append({ type: 'job.created', jobId, kind, callerId, profileName }, nowMs) }
    })
    if (created.event === undefined) return created.job
    events.announce(created.event)
    const { job } = created
    scope.spawn(`deadline of ${job.id}`, (signal) => this.#watchDeadline(job, signal))
    // The worker's row must exist when the caller reads the job: it is told the worker's id.
    await this.#startWorker(job, request, waiting)
    return this.require(job.id)
  }

  async #startWorker(job: Job, request: StartJob, waiting: Waiting): Promise<void> {
    const { store, random, scope } = this.#context
    const caller = request.callerId === undefined ? undefined : store.terminals.find(request.callerId)
    const sessionName = request.sessionName ?? caller?.sessionName ?? makeSessionName(random)
    try {
      if (request.reuseTerminalId !== undefined) {
        store.jobs.setWorker(job.id, request.reuseTerminalId)
        this.#sendTask(job, request.reuseTerminalId)
        return
      }
      const worker = await this.#doors.startWorker(sessionName, toCreate(request), waiting)
      store.jobs.setWorker(job.id, worker.id)
      scope.spawn(`worker of ${job.id}`, async () => {
        try {
          await worker.isReady
          this.#sendTask(job, worker.id)
        } catch (error) {
          this.end(job.id, 'fail', failure(describe(error)))
        }
      })
    } catch (error) {
      this.end(job.id, 'fail', failure(describe(error)))
      throw error
    }
  }

  #sendTask(job: Job, workerId: TerminalId): void {
    const { store } = this.#context
    if (!isJobOpen(this.require(job.id))) return
    const message = this.#doors.queue({
      kind: job.kind === 'step' ? 'input' : job.kind,
      senderId: job.callerId ?? 'user',
      receiverId: workerId,
      body: formatTask(job),
      jobId: job.id,
    })
    store.jobs.setMessage(job.id, message.id)
    this.#step(job.id, 'start', undefined)
  }

  /** A turn of a worker ended: its message's job has its answer, or the reason why there is none. */
  noteTurnEnded(end: TurnEnd): void {
    for (const message of end.messages) {
      if (message.jobId === undefined) continue
      if (end.outcome === 'answered' && end.answer.kind === 'exact') {
        const { text, source } = end.answer
        this.end(message.jobId, 'answer', { answer: text, failure: undefined, source })
      } else {
        const answer = end.answer.kind === 'exact' ? end.answer.text : undefined
        this.end(message.jobId, 'fail', { answer, failure: describeFailure(end), source: undefined })
      }
    }
  }

  /** The task's message ended badly: the job can not go on. */
  noteMessage(message: Message): void {
    if (message.jobId === undefined) return
    if (message.kind === 'callback') return
    if (message.state === 'refused' || message.state === 'undeliverable' || message.state === 'expired') {
      this.end(message.jobId, 'fail', failure(`the task was not delivered: ${message.detail ?? message.state}`))
    }
  }

  /** A worker is gone: its open jobs fail with the reason. */
  noteWorkerGone(workerId: TerminalId, why: string, lastLines: readonly string[] = []): void {
    for (const job of this.#context.store.jobs.listForWorker(workerId)) {
      if (isJobOpen(job)) this.end(job.id, 'fail', failure(this.#describeCut(job, why, lastLines)))
    }
  }

  /** How far the job had come, as far as is known, and what its worker's screen said last. */
  #describeCut(job: Job, why: string, lastLines: readonly string[]): string {
    const state = job.messageId === undefined ? undefined : this.#context.store.messages.find(job.messageId)?.state
    const isTaken = state === 'confirmed' || state === 'turn_started'
    const isWaiting = state === undefined || state === 'queued'
    const when = isTaken ? ' in the middle of the task' : isWaiting ? ' before it took the task' : ''
    // Quoted: to whoever reads this they are words of a screen, not orders.
    const quoted = lastLines.map((line) => `\n> ${line}`).join('')
    return `${why}${when}${quoted === '' ? '' : `; its screen ended with:${quoted}`}`
  }

  /** Ends a job once; the first ending wins. Reports it and ends the worker where the job says so. */
  end(id: JobId, step: Exclude<JobStep, 'start'>, result: JobResult): void {
    const job = this.#step(id, step, result)
    if (job === undefined) return
    const { callerId } = job
    if (job.kind === 'assign' && callerId !== undefined) this.#callBack(job, callerId)
    if (job.kind === 'handoff' && callerId !== undefined) {
      this.#context.scope.spawn(`fetching of ${id}`, (signal) => this.#callBackUnfetched(job, callerId, signal))
    }
    if (job.teardown && job.workerId !== undefined && step === 'answer') {
      const { workerId } = job
      this.#context.scope.spawn(`end of worker ${workerId}`, () => this.#doors.deleteTerminal(workerId))
    }
    this.#ended.emit(job)
  }

  /** An asker that waits fetches the end at once; one whose call was cut off by its own time limit is called back instead. */
  async #callBackUnfetched(job: Job, callerId: TerminalId, signal: AbortSignal): Promise<void> {
    await sleep(this.#context.clock, fetchGraceMs, signal).catch(() => undefined)
    if (!signal.aborted) this.#callBack(job, callerId)
  }

  #callBack(job: Job, callerId: TerminalId): void {
    const { store, log } = this.#context
    if (!store.jobs.claimReport(job.id)) return
    // A worker that wrote to its asker by itself has reported: a second report would double it.
    const isReported = job.workerId !== undefined && store.messages.hasSent(job.workerId, callerId, job.createdAtMs)
    if (isReported && job.state === 'answered') return
    const worker = job.workerId ?? 'no worker'
    const { answer, failure: why } = job.result ?? {}
    const body =
      why === undefined
        ? `Result from ${job.profileName} (${worker}):\n${answer ?? ''}`
        : `The task given to ${job.profileName} (${worker}) has failed: ${why}${answer === undefined ? '' : `\nIts last words:\n${answer}`}`
    try {
      this.#doors.queue({
        kind: 'callback',
        senderId: job.workerId ?? 'cao',
        receiverId: callerId,
        body,
        jobId: job.id,
      })
    } catch (error) {
      log.write('warn', 'callback not queued', { jobId: job.id, callerId, error: describe(error) })
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

  /** Ends the job and its work: a worker that was made for it ends, any other is interrupted. */
  cancel(id: JobId): Job {
    const { state, teardown, workerId } = this.require(id)
    this.end(id, 'cancel', failure('cancelled by its asker'))
    if (isJobOpen({ state }) && workerId !== undefined) {
      const stop = teardown ? this.#doors.deleteTerminal : this.#doors.interrupt
      this.#context.scope.spawn(`work of ${id}`, () => stop(workerId))
    }
    return this.require(id)
  }

  /** Takes up the open jobs of the last server: their deadlines run on, tasks that were never sent fail. */
  resume(): void {
    const { store, scope } = this.#context
    for (const job of store.jobs.listOpen()) {
      const worker = job.workerId === undefined ? undefined : store.terminals.find(job.workerId)
      if (worker === undefined)
        this.end(job.id, 'fail', failure('the server ended before its worker was started; ask again'))
      else if (worker.life !== 'live') this.#failWithWorker(job, worker)
      else {
        if (job.messageId === undefined) this.#sendTask(job, worker.id)
        scope.spawn(`deadline of ${job.id}`, (signal) => this.#watchDeadline(job, signal))
      }
    }
  }

  #failWithWorker(job: Job, worker: Terminal): void {
    const reason = worker.lostReason === undefined ? '' : `: ${worker.lostReason}`
    const why = this.#describeCut(job, `its worker ${worker.id} is ${worker.life}${reason}`, [])
    this.end(job.id, 'fail', failure(why))
  }

  async #watchDeadline(job: Job, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    // In slices, so that a machine that slept or a changed clock is noticed.
    while (clock.nowMs() < job.deadlineAtMs) {
      await sleep(clock, Math.min(60_000, job.deadlineAtMs - clock.nowMs()), signal).catch(() => undefined)
      if (signal.aborted || !isJobOpen(this.require(job.id))) return
    }
    const { workerId } = this.require(job.id)
    this.end(job.id, 'time_out', failure(`no answer in time: ${this.#describeWorker(workerId)}`))
  }

  #describeWorker(workerId: TerminalId | undefined): string {
    const state = workerId === undefined ? undefined : this.#context.runtimes.get(workerId)?.state
    if (workerId === undefined || state === undefined) return 'its worker is not running'
    const doing = { waiting_user_answer: 'waits for an answer', processing: 'is still at work' }[state.status as string]
    const about = state.detail === undefined ? '' : `: ${state.detail}`
    return `the worker ${workerId} ${doing ?? `is ${state.status} (${state.reason})`}${about}; it was left running`
  }

  #step(id: JobId, step: JobStep, result: JobResult | undefined): Job | undefined {
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

function describeFailure({ outcome, answer, detail }: TurnEnd): string {
  if (outcome === 'failed') return detail ?? 'the turn failed'
  if (outcome === 'interrupted') return 'the turn was interrupted'
  return answer.kind === 'none' ? answer.why : 'the turn has no answer'
}

/** An assigned worker is told that its answer travels by itself, so that it does not send it twice. */
function formatTask(job: Job): string {
  if (job.kind !== 'assign' || job.callerId === undefined) return job.task
  return `${job.task}\n\n[When you are done, end your turn with the result: CAO brings your answer to ${job.callerId}.]`
}

const failure = (why: string): JobResult => ({ answer: undefined, failure: why, source: undefined })

function toCreate(request: StartJob): CreateTerminal {
  const { profileName, provider, workingDirectory, allowedTools, model, callerId, clientEnv, useWorktree } = request
  return {
    profileName,
    isDeferred: true,
    ...(provider === undefined ? {} : { provider }),
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
    ...(model === undefined ? {} : { model }),
    ...(callerId === undefined ? {} : { callerId }),
    ...(clientEnv === undefined ? {} : { clientEnv }),
    ...(useWorktree === undefined ? {} : { useWorktree }),
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
