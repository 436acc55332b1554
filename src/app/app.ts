/**
 * What CAO can do, as one interface: the server calls it, nobody goes around it. Each use case stands in a
 * file of its own beside this one; `create-app.ts` puts them together.
 *
 * Expected refusals are AppErrors with a code here, because every caller is a boundary (HTTP, MCP, CLI)
 * that renders them by the same table.
 */

import type { Waiting } from '../async/wait.ts'
import type { BackendFinding } from '../backend/backend.ts'
import type { DomainEvent } from '../domain/events.ts'
import type { JobId, MessageId, QuestionId, SessionName, TerminalId } from '../domain/ids.ts'
import type { Check, Job, JobKind } from '../domain/job.ts'
import type { DeliveryClass, Message, MessageStatus, OrchestrationType } from '../domain/message.ts'
import type { Profile } from '../domain/profile.ts'
import type { Question } from '../domain/question.ts'
import type { ClaimKind, EvidenceSource, StatusView } from '../domain/status.ts'
import type { TrailEntry } from '../domain/status-reducer.ts'
import type { Session, Terminal } from '../domain/terminal.ts'
import type { Worktree, WorktreeWork } from '../domain/worktree.ts'
import type { Skill } from '../home/read-skill.ts'
import type { ListedSkill } from '../home/skill-files.ts'
import type { ToldOutcome } from '../notify/channel.ts'
import type { NotifierState, NotifyRules } from '../notify/notifier.ts'
import type { OptionName } from '../protocol/options.ts'
import type { Snapshot } from '../screen/snapshot.ts'
import type { JobFilter, MessageFilter, RetentionOutcome } from '../store/store.ts'
import type { AnswerQuestion, LookAtQuestions } from './actor.ts'
import type { ProfileCheck } from './check-profile.ts'
import type { ListedProfile } from './profile-files.ts'
import type { InstalledProfile, InstallOptions } from './profile-library.ts'
import type { ProfileHit } from './search-profiles.ts'

export type TestedChannel = { readonly channel: string; readonly outcome: ToldOutcome }

export type { Actor } from './actor.ts'

export type TerminalView = {
  readonly terminal: Terminal
  readonly status: StatusView
  readonly queueLength: number
  /** Undefined: it works in a directory that is not its own. */
  readonly worktree?: Worktree | undefined
}
export type SessionView = { readonly session: Session; readonly terminals: readonly TerminalView[] }

export type CreateTerminal = {
  readonly profileName: string
  /** Undefined: the profile's, else the caller's, else the configured or first installed one. */
  readonly provider?: string
  readonly workingDirectory?: string
  readonly allowedTools?: readonly string[]
  readonly model?: string
  readonly callerId?: TerminalId
  /** Extra environment of the agent; keys are checked, values never logged. */
  readonly env?: Readonly<Record<string, string>>
  /** Environment of the launching client (PATH decides which program is found). Undefined: the server's own. */
  readonly clientEnv?: Readonly<Record<string, string>>
  /** True: return at once with status unknown; the agent gets ready meanwhile. */
  readonly isDeferred?: boolean
  readonly initialMessage?: {
    readonly body: string
    readonly kind: OrchestrationType | 'input'
    readonly senderId: string
  }
  readonly group?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Gives it a git worktree of its own, made from its working directory. */
  readonly useWorktree?: boolean
}
export type CreateSession = CreateTerminal & { readonly sessionName?: string }

export type RecoverTerminal = {
  /** Values of the extra variables that it was first started with; CAO keeps only their names. */
  readonly env?: Readonly<Record<string, string>>
  readonly clientEnv?: Readonly<Record<string, string>>
}
export type RecoverOutcome = {
  readonly recovered: readonly TerminalId[]
  readonly errors: readonly { readonly id: TerminalId; readonly error: string }[]
}

export type AdoptOutcome = {
  readonly adopted: readonly TerminalId[]
  readonly errors: readonly { readonly id: TerminalId; readonly error: string }[]
}

export type PurgeOutcome = RetentionOutcome & {
  /** Exited and lost ones whose records were ended. */
  readonly ended: readonly TerminalId[]
}

export type SendInput = {
  readonly body: string
  readonly senderId: string
  /** Whose hand it comes from (`Message.author`). */
  readonly author?: string
  /** How long to wait for its delivery. Units: ms. */
  readonly waitMs: number
  /** Undefined: raw input, typed as it is. */
  readonly orchestrationType?: OrchestrationType
}

export type StartJob = {
  readonly kind: JobKind
  readonly profileName: string
  readonly task: string
  readonly provider?: string
  readonly workingDirectory?: string
  readonly allowedTools?: readonly string[]
  readonly model?: string
  readonly sessionName?: SessionName
  readonly callerId?: TerminalId
  readonly requestKey?: string
  readonly timeoutMs: number
  /** Ends the worker with its job. */
  readonly teardown: boolean
  /** Gives the job to this running terminal instead of a new one. */
  readonly reuseTerminalId?: TerminalId
  readonly clientEnv?: Readonly<Record<string, string>>
  /** As for a terminal; not with `reuseTerminalId`. */
  readonly useWorktree?: boolean
  /** Takes an idle worker of the asker, of the same profile and directory, if there is one. */
  readonly isReuseIdle?: boolean
  /** Nobody waits for the handoff: its end is told by a message. */
  readonly isUnattended?: boolean
  /** Commands that must pass before the answer counts. */
  readonly checks?: readonly Check[]
  /** The ended job whose work this is. */
  readonly retryOf?: JobId
}

export type RetryJob = {
  /** Undefined: one of its own, so that a second retry of the same job is the same. */
  readonly requestKey?: string
  /** Undefined: as long as the first one had. */
  readonly timeoutMs?: number
  readonly clientEnv?: Readonly<Record<string, string>>
}

/** What a worker says of its job by itself. */
export type JobReport = {
  readonly outcome: 'done' | 'no_change_needed' | 'failed'
  /** The result, or why there is none. */
  readonly text: string
}

/** What an open job waits for, other than its worker's work. */
export type JobAttention = {
  readonly kind: 'question' | 'unconfirmed' | 'held' | 'checks'
  readonly detail: string
  /** Of the question. */
  readonly questionId?: QuestionId
}

export type WorktreeView = {
  readonly worktree: Worktree
  /** Undefined: git could not tell. */
  readonly work: WorktreeWork | undefined
  /** Terminals that are there and work in it, its own among them. */
  readonly usedBy: readonly TerminalId[]
}

export type RemoveWorktree = { readonly id: TerminalId; readonly isForced: boolean }

/** What a project names in its `.cao/worktree.json`. */
export type WorktreeSetup = {
  readonly file: string
  readonly argv: readonly string[]
  readonly timeoutMs: number
  /** Of the file's bytes: what a person allows. */
  readonly digest: string
  readonly isAllowed: boolean
}

export type FoundSetup = { readonly repository: string; readonly setup: WorktreeSetup | undefined }

export type Output = {
  readonly text: string
  readonly mode: 'full' | 'last' | 'screen'
  readonly source: string
  /** False: a later turn runs; this is the answer of the one before. */
  readonly isCurrent: boolean
  /** More was printed than is in `text`: slices of the log hold it all. */
  readonly isTruncated: boolean
}

/** What one source of evidence is good for, and what it holds open now. */
export type SourceView = {
  readonly source: EvidenceSource
  /** 1 is the best; a better one overrules. */
  readonly rank: number
  /** The claims that it always makes: of these its silence counts, too. */
  readonly announces: readonly ClaimKind[]
  readonly hasSpoken: boolean
  readonly holds: readonly ('turn' | 'question')[]
}

export type ExplainedScreen = {
  readonly lines: readonly string[]
  readonly rule: string
  /** Where the rule's text stands and what it is; undefined where no rule holds. */
  readonly region: string | undefined
  readonly regionText: string | undefined
  /** The file of a rule that is not built in. */
  readonly ruleOrigin: string | undefined
  readonly says: string | undefined
  readonly composer: string
  /** What is seen of a draft. */
  readonly composerText: string | undefined
}

/** The screen as it is, with colours and attributes, to be made a fixture of. */
export type ScreenCapture = { readonly provider: string; readonly program: string; readonly snapshot: Snapshot }

export type Explanation = {
  readonly view: TerminalView
  readonly trail: readonly TrailEntry[]
  /** Every source of evidence that this provider has or that has spoken, best first. */
  readonly sources: readonly SourceView[]
  readonly screen: ExplainedScreen | undefined
  readonly openMessages: readonly Message[]
  readonly openQuestions: readonly Question[]
  readonly facts: Readonly<Record<string, string>>
}

export type Subscription = Disposable & {
  /** Seq up to which the caller is now informed; later events go to the listener. */
  readonly fromSeq: number
  /** Events between the asked seq and now; undefined when the asked seq is too old (reload everything). */
  readonly missed: readonly DomainEvent[] | undefined
}

export type DeleteOutcome = {
  readonly deleted: readonly string[]
  readonly errors: readonly { readonly id: string; readonly error: string }[]
}

export type Health = {
  readonly backend: {
    readonly name: string
    readonly version: string
    readonly state: 'ready' | 'starting' | 'gone'
    readonly details: Readonly<Record<string, string>>
  }
  readonly startedAtMs: number
  readonly pid: number
  readonly home: string
  readonly terminals: number
  readonly lastRecovery: Readonly<Record<string, unknown>> | undefined
}

export interface App {
  health(): Health
  /** What a person should know of backend and leftovers. Errors: none. */
  examine(waiting: Waiting): Promise<readonly BackendFinding[]>
  listProfiles(): Promise<readonly ListedProfile[]>
  /** Those that suit the words of `query`, the best first; of what cannot be loaded none. */
  searchProfiles(query: string, limit?: number): Promise<readonly ProfileHit[]>
  /** What is wrong with the text of a profile. Errors: none. */
  checkProfile(text: string): Promise<ProfileCheck>
  /** `source`: a name that is known, or an https address. Errors: BAD_REQUEST, PROFILE_UNKNOWN, PROFILE_INVALID, PROVIDER_UNKNOWN, NAME_TAKEN. */
  installProfile(source: string, options: InstallOptions, waiting: Waiting): Promise<InstalledProfile>
  /** `name`: undefined is what the text says. Errors: as installProfile. */
  saveProfile(text: string, name: string | undefined, options: InstallOptions): Promise<InstalledProfile>
  /** Errors: NOT_FOUND. */
  removeProfile(name: string): Promise<{ readonly file: string }>
  /** For those who look: variables stay names. Errors: PROFILE_UNKNOWN, PROFILE_INVALID. */
  loadProfile(name: string): Promise<Profile>
  /** Our own store. */
  skillsDir(): string
  listSkills(): Promise<readonly ListedSkill[]>
  /** Errors: BAD_REQUEST for a bad name or a faulty skill, NOT_FOUND, TOO_LARGE. */
  loadSkill(name: string): Promise<Skill>
  /** As settings.json has it, which is read at the next start. Errors: BAD_REQUEST. */
  readSetting(name: OptionName): Promise<unknown>
  /** Errors: BAD_REQUEST for what is no value of the option; STORAGE_FULL. */
  writeSetting(name: OptionName, value: unknown): Promise<void>
  listProviders(): Promise<
    readonly { readonly name: string; readonly program: string | undefined; readonly hint: string | undefined }[]
  >

  /** Errors: NAME_TAKEN, BAD_REQUEST, PROFILE_UNKNOWN, PROVIDER_UNKNOWN, PROGRAM_MISSING, DIRECTORY_MISSING, LAUNCH_FAILED, BACKEND_GONE. Leaves nothing behind when it throws. */
  createSession(request: CreateSession, waiting: Waiting): Promise<TerminalView>
  listSessions(): readonly SessionView[]
  /** Errors: NOT_FOUND. */
  getSession(name: SessionName): SessionView
  deleteSession(name: SessionName, waiting: Waiting): Promise<DeleteOutcome>
  /** Ends every session and then the backend's own server. */
  shutdownAll(waiting: Waiting): Promise<DeleteOutcome>

  /** Errors: as createSession, and NOT_FOUND for the session. */
  createTerminal(sessionName: SessionName, request: CreateTerminal, waiting: Waiting): Promise<TerminalView>
  /** Errors: NOT_FOUND. */
  getTerminal(id: TerminalId): TerminalView
  listTerminals(sessionName?: SessionName): readonly TerminalView[]
  deleteTerminal(id: TerminalId, waiting: Waiting): Promise<void>
  /** Takes a lost or exited agent up again, with its conversation. Errors: NOT_FOUND, CONFLICT, ENV_MISSING, and as createTerminal. */
  recoverTerminal(id: TerminalId, recover: RecoverTerminal, waiting: Waiting): Promise<TerminalView>
  /** Takes every lost one up again; one that fails stops no other and is named. */
  recoverAll(recover: RecoverTerminal, waiting: Waiting): Promise<RecoverOutcome>
  /** Takes in agents whose panes live and whose rows are gone. Errors: BACKEND_GONE, BACKEND_TIMEOUT. */
  adoptStrays(waiting: Waiting): Promise<AdoptOutcome>
  /** Forgets what ended longer ago; `olderThanMs` undefined: as long as the server keeps it by itself. */
  purge(
    what: { readonly olderThanMs: number | undefined; readonly isDryRun: boolean },
    waiting: Waiting,
  ): Promise<PurgeOutcome>
  /** Queues raw input and waits for its delivery or its refusal. Errors: BLOCKED (waiting for an answer, ended), NOT_FOUND, QUEUE_FULL, TIMEOUT. */
  sendInput(id: TerminalId, input: SendInput, waiting: Waiting): Promise<Message>
  /** Types a command of the program itself, such as `/compact`, when it rests. Errors: as `sendInput`. */
  sendCommand(id: TerminalId, input: SendInput, waiting: Waiting): Promise<Message>
  /** `by`: as the author of a message. Errors: BAD_REQUEST for an unknown key, BLOCKED when the terminal has ended. */
  pressKey(id: TerminalId, press: { readonly key: string; readonly by?: string }, waiting: Waiting): Promise<void>
  /** Asks the program to end by itself. */
  exitTerminal(id: TerminalId, waiting: Waiting): Promise<void>
  readOutput(id: TerminalId, mode: Output['mode'], waiting: Waiting): Promise<Output>
  readOutputRange(id: TerminalId, offset: number, lengthMax: number): Promise<Uint8Array>
  setGroup(id: TerminalId, group: readonly string[] | undefined): TerminalView
  setMetadata(id: TerminalId, metadata: Readonly<Record<string, unknown>> | undefined): TerminalView
  explain(id: TerminalId, waiting: Waiting): Promise<Explanation>
  /** Errors: NOT_FOUND, CONFLICT when the agent has ended. */
  captureScreen(id: TerminalId, waiting: Waiting): Promise<ScreenCapture>
  /** argv for a person's shell. */
  attachArgv(id: TerminalId): readonly string[]

  /** Errors: NOT_FOUND for the receiver, BAD_REQUEST for a message to oneself or an empty one, TOO_LARGE, QUEUE_FULL. */
  queueMessage(message: {
    readonly senderId: string
    readonly receiverId: TerminalId
    readonly body: string
    readonly author?: string
    /** The sender's own name for it: given again, here or through the outbox, it is the same message. */
    readonly uuid?: string
    /** Undefined: idle. */
    readonly deliveryClass?: DeliveryClass
  }): Message
  /** Newest first. */
  searchMessages(filter: MessageFilter): readonly Message[]
  /** A dead letter once more, as a new message; `receiverId`: to somebody else. Errors: NOT_FOUND, CONFLICT, and as queueMessage. */
  resendMessage(id: MessageId, receiverId?: TerminalId): Message
  /** Errors: NOT_FOUND, CONFLICT. */
  dropMessage(id: MessageId, by: string): Message
  getMessage(id: MessageId): Message
  listMessages(
    receiverId: TerminalId,
    options: { readonly limit: number; readonly status?: MessageStatus },
  ): readonly Message[]

  /** Creates (or finds, by request key) the job and starts it; returns at once. Errors: as createTerminal, and CONFLICT for the key of another task. */
  startJob(request: StartJob, waiting: Waiting): Promise<Job>
  getJob(id: JobId): Job
  /** The job when it has ended, or as it stands when `waitMs` is over. A handoff's asker that gets the end here gets no callback. */
  waitForJob(id: JobId, waitMs: number, waiting: Waiting): Promise<Job>
  cancelJob(id: JobId, waiting: Waiting): Promise<Job>
  /** Newest first. */
  listJobs(filter: JobFilter): readonly Job[]
  /** Undefined: it has ended, or nobody has to do anything. */
  getJobAttention(job: Job): JobAttention | undefined
  /** The work of an ended job as a new one. Errors: NOT_FOUND, CONFLICT for an open or answered one, and as startJob. */
  retryJob(id: JobId, retry: RetryJob, waiting: Waiting): Promise<Job>
  /** Ends the job as its worker says. Errors: NOT_FOUND, CONFLICT when it has ended otherwise. */
  reportJob(id: JobId, report: JobReport): Job

  /** All there are, those of ended terminals included, with what each holds if git is to look. */
  listWorktrees(options: { readonly isLook: boolean }, waiting: Waiting): Promise<readonly WorktreeView[]>
  /** From memory; undefined when the terminal has none or it was removed. */
  findWorktree(id: TerminalId): Worktree | undefined
  /** Errors: NOT_FOUND, CONFLICT (in use, locked, or with work and not forced). */
  removeWorktree(request: RemoveWorktree, waiting: Waiting): Promise<void>
  /** The set-up that the project of a directory names for its worktrees. Errors: BAD_REQUEST. */
  showWorktreeSetup(directory: string, waiting: Waiting): Promise<FoundSetup>
  /** Allows exactly the file of this digest; undefined forbids it. Errors: BAD_REQUEST, NOT_FOUND, CONFLICT. */
  trustWorktreeSetup(directory: string, digest: string | undefined, waiting: Waiting): Promise<FoundSetup>

  /** How the person is told, and what is due. */
  notifyState(): { readonly rules: NotifyRules; readonly states: readonly NotifierState[] }
  /** One try on each channel; which failed stands in the answer. */
  testNotify(waiting: Waiting): Promise<readonly TestedChannel[]>

  /** Open ones oldest first, others newest first. An agent that looks is shown them. */
  listQuestions(look?: LookAtQuestions): readonly Question[]
  /**
   * Errors: CONFLICT when none is named, and not exactly one is open that was shown to an agent that answers; when it is closed, naming how;
   * NOT_FOUND; FORBIDDEN when only a person may answer it; BAD_REQUEST for an answer that it does not take.
   */
  answerQuestion(request: AnswerQuestion, waiting: Waiting): Promise<Question>

  /** Holds the queue of a terminal until it is released. Errors: NOT_FOUND. */
  holdQueue(id: TerminalId, hold: { readonly by: string; readonly why: string }): TerminalView
  /** Errors: NOT_FOUND. */
  releaseQueue(id: TerminalId, by: string): TerminalView

  /** Snapshot and stream in one step: no event is missed and none comes twice. */
  subscribe(afterSeq: number | undefined, listener: (event: DomainEvent) => void): Subscription
  lastEventSeq(): number
  /** At most `limit` kept events after `afterSeq`; undefined when those directly after it are no longer kept. */
  listEvents(afterSeq: number, limit: number): readonly DomainEvent[] | undefined
}
