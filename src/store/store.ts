/**
 * What CAO remembers: one SQLite file behind these interfaces. Everything is synchronous and short; nothing
 * waits for tmux, a network or a person inside `transaction`. Rows are the truth, events tell of them:
 * a change and its event are written in one transaction by the use case.
 */
import type { DeliveryState, DeliveryStep } from '../domain/delivery.ts'
import type { DomainEvent, DomainEventBody } from '../domain/events.ts'
import type { JobId, MessageId, MessageToken, QuestionId, SessionName, TerminalId } from '../domain/ids.ts'
import type { Job, JobResult, JobState, JobStep } from '../domain/job.ts'
import type { DeliveryClass, Message, MessageKind } from '../domain/message.ts'
import type { Question, QuestionClosing, QuestionState } from '../domain/question.ts'
import type { EvidenceSource, TurnOutcome } from '../domain/status.ts'
import type { Binding, Exit, Life, LifeStep, PaneRef, Session, Terminal } from '../domain/terminal.ts'
import type { Worktree, WorktreeState } from '../domain/worktree.ts'

export type NewTerminal = Omit<Terminal, 'life' | 'pane' | 'exit' | 'lostReason' | 'lastActiveAtMs'>
export type NewMessage = {
  readonly token: MessageToken
  readonly kind: MessageKind
  readonly senderId: string
  readonly receiverId: TerminalId
  readonly jobId: JobId | undefined
  readonly body: string
  readonly createdAtMs: number
  readonly author?: string
  readonly hops?: number
  /** Stands in the queue where this message stood. */
  readonly placeOf?: MessageId
  /** Undefined: idle. */
  readonly deliveryClass?: DeliveryClass
  readonly resendOf?: MessageId
}
export type MessageFilter = {
  readonly limit: number
  readonly states?: readonly DeliveryState[]
  readonly receiverId?: TerminalId
  readonly senderId?: string
  /** Only what ended badly and was neither sent again nor dropped. */
  readonly isDead?: boolean
}
/** What a step writes beside the state. `proof` belongs to `confirm`, `turnOutcome` to `answer`. */
export type MessageChange = {
  readonly detail?: string
  readonly atMs: number
  readonly countAttempt?: boolean
  readonly proof?: EvidenceSource
  readonly turnOutcome?: TurnOutcome
}
export type NewJob = Omit<
  Job,
  'state' | 'result' | 'isReported' | 'endedAtMs' | 'workerId' | 'messageId' | 'claim' | 'checksRun'
>
export type JobFilter = {
  readonly limit: number
  readonly states?: readonly JobState[]
  readonly callerId?: TerminalId
  readonly workerId?: TerminalId
  /** Jobs in which this terminal has a part, as asker or as worker. */
  readonly partOf?: TerminalId
}

/** Where the reader of a terminal's channels stands; saved in one transaction with what was derived. */
export type Cursor = {
  readonly outputOffset: number
  readonly hookOffset: number
  readonly turnsEnded: number
}

/** A state change that was asked for and could not be made. */
export type Moved<T> =
  | { readonly kind: 'moved'; readonly row: T; readonly from: string }
  | { readonly kind: 'illegal'; readonly from: string }
  | { readonly kind: 'missing' }

export interface SessionRows {
  insert(session: Session): 'inserted' | 'taken'
  find(name: SessionName): Session | undefined
  list(): readonly Session[]
  delete(name: SessionName): boolean
}

/** The setters throw AppError NOT_FOUND for a terminal that is not there; `touch` is a hint and does not. */
export interface TerminalRows {
  /** Life `planned`. Errors: AppError CONFLICT when the id exists. */
  insert(terminal: NewTerminal): Terminal
  find(id: TerminalId): Terminal | undefined
  /** Not deleted ones; of one session when named. Oldest first. */
  list(sessionName?: SessionName): readonly Terminal[]
  /** Applies the life table. `open` takes the pane, `exit` the exit, `lose` the reason. */
  step(
    id: TerminalId,
    step: LifeStep,
    facts?: { readonly pane?: PaneRef; readonly exit?: Exit; readonly reason?: string; readonly atMs?: number },
  ): Moved<Terminal>
  setBinding(id: TerminalId, binding: Binding): void
  /** What the provider planned, anew. */
  setLaunch(id: TerminalId, launch: Pick<Terminal, 'argv' | 'binding' | 'permissionMode' | 'limitsNotEnforced'>): void
  setGroup(id: TerminalId, group: readonly string[] | undefined): void
  setMetadata(id: TerminalId, metadata: Readonly<Record<string, unknown>> | undefined): void
  touch(id: TerminalId, atMs: number): void
  /** Zeroes for a terminal that was never read. */
  loadCursor(id: TerminalId): Cursor
  saveCursor(id: TerminalId, cursor: Cursor): void
}

export interface MessageRows {
  /** State `queued`. Errors: AppError QUEUE_FULL when `inboxLengthMax` messages wait for the receiver already, NOT_FOUND when
   * it does not exist, CONFLICT when the token does, or when `resendOf` was sent again before. */
  insert(message: NewMessage): Message
  find(id: MessageId): Message | undefined
  findByToken(token: MessageToken): Message | undefined
  findResend(of: MessageId): Message | undefined
  /** Of all receivers, newest first. */
  search(filter: MessageFilter): readonly Message[]
  /** Corrects how the turn of an answered message ended. */
  setTurnOutcome(id: MessageId, outcome: TurnOutcome): void
  /** False when it was dropped before. */
  drop(id: MessageId, atMs: number): boolean
  /** Oldest first. */
  list(
    receiverId: TerminalId,
    options: { readonly limit: number; readonly states?: readonly DeliveryState[] },
  ): readonly Message[]
  /** Messages in `states`, of all receivers, oldest first. */
  listByState(states: readonly DeliveryState[]): readonly Message[]
  /** How many messages of this receiver are in `states`. */
  count(receiverId: TerminalId, states: readonly DeliveryState[]): number
  /** Whether `senderId` itself has sent `receiverId` a message (kind send_message) since then. */
  hasSent(senderId: TerminalId, receiverId: TerminalId, sinceMs: number): boolean
  /** The next message for this receiver in `queued`; order per sender and receiver is by id, a digest in the place of its first. */
  nextQueued(receiverId: TerminalId): Message | undefined
  /** As many as come next, in their order. Messages that a digest carries are not among them. */
  listQueued(receiverId: TerminalId, limit: number): readonly Message[]
  /** From now on `id` is brought by the digest `carrier`. False: it is not waiting in the queue any more, or carried already. */
  setCarrier(id: MessageId, carrier: MessageId): boolean
  /** In their order. */
  listCarried(carrier: MessageId): readonly Message[]
  /** The newest that `receiverId` has taken. */
  findNewestTaken(receiverId: TerminalId): Message | undefined
  /** The queued ones whose sender does not want to wait for rest, and those before them of the same senders; oldest first. */
  listUrgent(receiverId: TerminalId): readonly Message[]
  /**
   * Applies the delivery table by a conditional update; `countAttempt` adds one to attempts. A detail explains the
   * state it was given for; only that of `confirmed` (the proof) stays in the states after it.
   */
  step(id: MessageId, step: DeliveryStep, change: MessageChange): Moved<Message>
}

export interface JobRows {
  /** A second call with the same caller and request key gives the first job. */
  insert(job: NewJob): { readonly job: Job; readonly isNew: boolean }
  find(id: JobId): Job | undefined
  /** The job that this caller asked for with this key. */
  findByRequest(callerId: TerminalId | undefined, requestKey: string): Job | undefined
  /** The first one that tried `id` anew. */
  findRetry(id: JobId): Job | undefined
  /** Newest first. */
  list(filter: JobFilter): readonly Job[]
  listOpen(): readonly Job[]
  /** Ended jobs of agents that nobody was handed the end of, oldest first; never a `step`, which only its request waits for. */
  listUnreported(): readonly Job[]
  listForWorker(workerId: TerminalId): readonly Job[]
  findByMessage(messageId: MessageId): Job | undefined
  setWorker(id: JobId, workerId: TerminalId): void
  setMessage(id: JobId, messageId: MessageId): void
  /** What the worker says is its result, and how often the checks of it were run. */
  setClaim(id: JobId, claim: JobResult | undefined, checksRun: number): void
  /** `correct` makes it unreported again: there is news to tell. */
  step(id: JobId, step: JobStep, change: { readonly result?: JobResult; readonly atMs: number }): Moved<Job>
  /** True once, and only after the job has ended: for the one who may report the end. */
  claimReport(id: JobId): boolean
}

export type NewQuestion = Omit<Question, 'state' | 'closedAtMs' | 'answer' | 'answeredBy' | 'detail' | 'noticeId'>
export type QuestionFilter = {
  readonly limit: number
  readonly states?: readonly QuestionState[]
  readonly terminalId?: TerminalId
}

export interface QuestionRows {
  insert(question: NewQuestion): Question
  find(id: QuestionId): Question | undefined
  listOpen(terminalId?: TerminalId): readonly Question[]
  /** Newest first. */
  list(filter: QuestionFilter): readonly Question[]
  /** False when it was closed already. */
  close(id: QuestionId, atMs: number, closing: QuestionClosing): boolean
  /** The message by which somebody is told of it. */
  setNotice(id: QuestionId, messageId: MessageId): void
  findByNotice(messageId: MessageId): Question | undefined
  noteShown(id: QuestionId, to: TerminalId): void
  isShownTo(id: QuestionId, to: TerminalId): boolean
}

/** A queue that a person has stopped. */
export type Hold = { readonly by: string; readonly why: string; readonly atMs: number }

export interface HoldRows {
  find(id: TerminalId): Hold | undefined
  /** False: it was held already. */
  set(id: TerminalId, hold: Hold): boolean
  /** False: it was not held. */
  clear(id: TerminalId): boolean
}

/** One for each terminal that has or had one; their terminals may be gone. Removed ones leave no row. */
export interface WorktreeRows {
  insert(worktree: Worktree): void
  find(id: TerminalId): Worktree | undefined
  /** Oldest first. */
  list(): readonly Worktree[]
  /** Also sets why; notes stay when none are given. Nothing happens where there is no such row. */
  setState(
    id: TerminalId,
    state: WorktreeState,
    facts?: { readonly detail?: string; readonly notes?: readonly string[] },
  ): void
  /** False: there was none. */
  delete(id: TerminalId): boolean
}

export interface EventRows {
  /** Appends and returns with its seq. Announce it to listeners only after the transaction. */
  append(body: DomainEventBody, atMs: number): DomainEvent
  /** At most `limit` events after `afterSeq`, in order. */
  listAfter(afterSeq: number, limit: number): readonly DomainEvent[]
  lastSeq(): number
  /** Seq of the oldest kept event; 0 when there is none. */
  firstSeq(): number
  /** Drops all but the newest `keep` events. */
  trim(keep: number): number
}

/** How many rows of each kind. */
export type RetentionOutcome = {
  readonly terminals: number
  readonly messages: number
  readonly jobs: number
  readonly questions: number
  readonly events: number
}

export interface Store extends Disposable {
  /**
   * Runs `work`, which must not be async, in one transaction. Nested calls join it: a throw from one of them rolls all
   * of it back, even when the outer work catches it. Errors: AppError STORAGE_FULL on a full disk, BLOCKED when another
   * process holds the write lock for too long.
   */
  transaction<T>(work: () => T): T
  /**
   * Until disposed, what is committed outlives this process but not a power cut; the next commit after that makes all of it
   * safe. For work that nobody was promised yet, and for what is found out again. In a transaction it does nothing: that one decides.
   */
  deferSync(): Disposable
  readonly sessions: SessionRows
  readonly terminals: TerminalRows
  readonly messages: MessageRows
  readonly jobs: JobRows
  readonly questions: QuestionRows
  readonly holds: HoldRows
  readonly worktrees: WorktreeRows
  readonly events: EventRows
  /** Values of CAO itself (instance facts, last recovery), small JSON texts. */
  getFact(key: string): string | undefined
  setFact(key: string, value: string): void
  /**
   * Copies everything into a file of its own, for its owner alone, unless the newest copy is younger than `everyMs`. The
   * number of copies is bounded. Returns the path of a new one. Errors: STORAGE_FULL.
   */
  backUp(when: { readonly nowMs: number; readonly everyMs: number }): Promise<string | undefined>
  /** Deletes rows of ended things older than `beforeMs`; never those of terminals that are not deleted. Events go from the
   * old end only, so that the log has no holes. In a dry run nothing is deleted. */
  purge(beforeMs: number, options?: { readonly isDryRun: boolean }): RetentionOutcome
}

export type { Life }
