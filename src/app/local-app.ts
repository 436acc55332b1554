/** `App` in this process: each method is one line into the use case that does it. */
import type { Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { DomainEvent } from '../domain/events.ts'
import type { JobId, MessageId, SessionName, TerminalId } from '../domain/ids.ts'
import type { StatusView } from '../domain/status.ts'
import { initialStatus } from '../domain/status-reducer.ts'
import type { Session, Terminal } from '../domain/terminal.ts'
import { adoptStrays } from './adopt-strays.ts'
import { selectClientEnv } from './agent-env.ts'
import type {
  App,
  CreateSession,
  CreateTerminal,
  DeleteOutcome,
  Health,
  Output,
  RecoverOutcome,
  RecoverTerminal,
  RemoveWorktree,
  SendInput,
  SessionView,
  StartJob,
  TerminalView,
} from './app.ts'
import { readStoredOption, storeOption } from './change-setting.ts'
import { type AppContext, requireTerminal } from './context.ts'
import { dropMessage, resendMessage } from './dead-letters.ts'
import type { Deleter } from './end-terminal.ts'
import { examine } from './examine.ts'
import { explain } from './explain.ts'
import { holdQueue, releaseQueue } from './hold-queue.ts'
import { purge } from './housekeeping.ts'
import type { Jobs } from './jobs.ts'
import { listMessages, queueMessage, requireMessage } from './mailbox.ts'
import { queueOnce } from './outbox.ts'
import { captureScreen, readOutput, readOutputRange } from './output.ts'
import type { ProfileLibrary } from './profile-library.ts'
import { answerQuestion, listQuestions } from './questions.ts'
import { relaunchAll, relaunchTerminal } from './relaunch-terminal.ts'
import type { RuntimeListeners } from './runtime.ts'
import { searchProfiles } from './search-profiles.ts'
import { exitTerminal, pressKey, sendCommand, sendInput } from './send-input.ts'
import { chooseSessionName, deleteSession, requireSession } from './sessions.ts'
import { type StartWorker, startWorker } from './start-worker.ts'
import type { PersonNotices } from './tell-person.ts'
import { listWorktrees, removeWorktree, showSetup, trustSetup } from './worktrees.ts'

export type LocalAppParts = {
  readonly jobs: Jobs
  readonly notices: PersonNotices
  readonly deleter: Deleter
  readonly retentionMs: number
  readonly library: ProfileLibrary
  readonly listeners: RuntimeListeners
  readonly startedAtMs: number
}

export class LocalApp implements App {
  readonly #context: AppContext
  readonly #parts: LocalAppParts

  constructor(context: AppContext, parts: LocalAppParts) {
    this.#context = context
    this.#parts = parts
  }

  health(): Health {
    const { store, layout, runtimes, guard, backend } = this.#context
    const { facts, isReady } = guard.view
    const { startedAtMs } = this.#parts
    const recovery = store.getFact('last_recovery')
    return {
      backend: {
        name: backend.name,
        version: facts?.version ?? '',
        state: isReady ? 'ready' : 'gone',
        details: facts?.details ?? {},
      },
      startedAtMs,
      pid: process.pid,
      home: layout.home,
      terminals: runtimes.size,
      lastRecovery: recovery === undefined ? undefined : (JSON.parse(recovery) as Record<string, unknown>),
    }
  }

  examine: App['examine'] = (waiting) => examine(this.#context, waiting)
  listProfiles: App['listProfiles'] = () => this.#context.profiles.list()
  searchProfiles: App['searchProfiles'] = async (query, limit) =>
    searchProfiles(await this.#context.profiles.list(), query, limit)
  checkProfile: App['checkProfile'] = (text) => this.#parts.library.check(text)
  installProfile: App['installProfile'] = (source, options, waiting) =>
    this.#parts.library.install(source, options, waiting)
  saveProfile: App['saveProfile'] = (text, name, options) => this.#parts.library.save(text, name, options)
  removeProfile: App['removeProfile'] = (name) => this.#parts.library.remove(name)
  loadProfile: App['loadProfile'] = (name) => this.#context.profiles.inspect(name)

  listSkills: App['listSkills'] = () => this.#context.skills.list()
  skillsDir: App['skillsDir'] = () => this.#context.layout.skillsDir
  readSetting: App['readSetting'] = (name) => readStoredOption(this.#context.layout.settingsFile, name)
  writeSetting: App['writeSetting'] = (name, value) => storeOption(this.#context, name, value)

  loadSkill: App['loadSkill'] = (name) => this.#context.skills.load(name)

  async listProviders(): ReturnType<App['listProviders']> {
    const env = selectClientEnv(this.#context.serverEnv)
    return Promise.all(
      this.#context.providers.all.map(async (provider) => {
        const { name } = provider
        const found = await provider.findProgram(env)
        return found.kind === 'found'
          ? { name, program: found.path, hint: undefined }
          : { name, program: undefined, hint: found.hint }
      }),
    )
  }

  async createSession(request: CreateSession, waiting: Waiting): Promise<TerminalView> {
    const name = chooseSessionName(this.#context, request.sessionName)
    return this.#create({ sessionName: name, request, isNewSession: true }, waiting)
  }

  async createTerminal(sessionName: SessionName, request: CreateTerminal, waiting: Waiting): Promise<TerminalView> {
    requireSession(this.#context, sessionName)
    return this.#create({ sessionName, request }, waiting)
  }

  async #create(options: Omit<StartWorker, 'listeners'>, waiting: Waiting): Promise<TerminalView> {
    const { listeners } = this.#parts
    const { request } = options
    const worker = await startWorker(this.#context, { ...options, listeners }, waiting)
    if (request.isDeferred !== true) await worker.isReady
    if (request.initialMessage !== undefined) {
      const { kind, senderId, body } = request.initialMessage
      queueMessage(this.#context, { kind, senderId, receiverId: worker.id, body, jobId: undefined })
    }
    return this.getTerminal(worker.id)
  }

  listSessions(): readonly SessionView[] {
    return this.#context.store.sessions.list().map((session) => this.#viewSession(session))
  }

  getSession(name: SessionName): SessionView {
    return this.#viewSession(requireSession(this.#context, name))
  }

  #viewSession(session: Session): SessionView {
    return { session, terminals: this.listTerminals(session.name) }
  }

  deleteSession(name: SessionName, waiting: Waiting): Promise<DeleteOutcome> {
    return deleteSession(this.#context, this.#parts.deleter, name, waiting)
  }

  async shutdownAll(waiting: Waiting): Promise<DeleteOutcome> {
    const outcomes = await Promise.all(
      this.listSessions().map(({ session }) => this.deleteSession(session.name, waiting)),
    )
    await this.#context.backend.shutdown(waiting).catch(acceptGone)
    this.#context.guard.noteLost()
    return { deleted: outcomes.flatMap(({ deleted }) => deleted), errors: outcomes.flatMap(({ errors }) => errors) }
  }

  getTerminal(id: TerminalId): TerminalView {
    return this.#viewTerminal(requireTerminal(this.#context, id))
  }

  listTerminals(sessionName?: SessionName): readonly TerminalView[] {
    return this.#context.store.terminals.list(sessionName).map((terminal) => this.#viewTerminal(terminal))
  }

  #viewTerminal(terminal: Terminal): TerminalView {
    const status = this.#context.runtimes.get(terminal.id)?.view ?? viewEnded(terminal)
    const queueLength = this.#context.store.messages.count(terminal.id, ['queued', 'leased'])
    const worktree = this.#context.store.worktrees.find(terminal.id)
    return { terminal, status, queueLength, worktree }
  }

  deleteTerminal(id: TerminalId, waiting: Waiting): Promise<void> {
    return this.#parts.deleter.delete(id, waiting)
  }

  async recoverTerminal(id: TerminalId, { env, clientEnv }: RecoverTerminal, waiting: Waiting): Promise<TerminalView> {
    const { listeners } = this.#parts
    await relaunchTerminal(this.#context, { id, listeners, env: env ?? {}, clientEnv }, waiting)
    return this.getTerminal(id)
  }

  recoverAll({ env, clientEnv }: RecoverTerminal, waiting: Waiting): Promise<RecoverOutcome> {
    const { listeners } = this.#parts
    return relaunchAll(this.#context, { listeners, env: env ?? {}, clientEnv }, waiting)
  }

  purge: App['purge'] = ({ olderThanMs, isDryRun }, waiting) => {
    const { deleter, retentionMs } = this.#parts
    return purge(this.#context, deleter, { olderThanMs: olderThanMs ?? retentionMs, isDryRun }, waiting)
  }
  adoptStrays: App['adoptStrays'] = (waiting) => adoptStrays(this.#context, this.#parts.listeners, waiting)

  sendInput(id: TerminalId, input: SendInput, waiting: Waiting): ReturnType<App['sendInput']> {
    return sendInput(this.#context, id, input, waiting)
  }

  sendCommand: App['sendCommand'] = (id, input, waiting) => sendCommand(this.#context, id, input, waiting)
  pressKey: App['pressKey'] = (id, press, waiting) => pressKey(this.#context, id, press, waiting)

  exitTerminal(id: TerminalId, waiting: Waiting): Promise<void> {
    return exitTerminal(this.#context, id, waiting)
  }

  readOutput(id: TerminalId, mode: Output['mode'], waiting: Waiting): Promise<Output> {
    return readOutput(this.#context, id, mode, waiting)
  }

  captureScreen(id: TerminalId, waiting: Waiting): ReturnType<App['captureScreen']> {
    return captureScreen(this.#context, id, waiting)
  }

  readOutputRange(id: TerminalId, offset: number, lengthMax: number): Promise<Uint8Array> {
    return readOutputRange(this.#context, id, offset, lengthMax)
  }

  setGroup(id: TerminalId, group: readonly string[] | undefined): TerminalView {
    requireTerminal(this.#context, id)
    this.#context.store.terminals.setGroup(id, group)
    this.#context.runtimes.get(id)?.saveRecord()
    return this.getTerminal(id)
  }

  setMetadata(id: TerminalId, metadata: Readonly<Record<string, unknown>> | undefined): TerminalView {
    requireTerminal(this.#context, id)
    this.#context.store.terminals.setMetadata(id, metadata)
    this.#context.runtimes.get(id)?.saveRecord()
    return this.getTerminal(id)
  }

  explain(id: TerminalId, waiting: Waiting): ReturnType<App['explain']> {
    return explain(this.#context, this.getTerminal(id), waiting)
  }

  attachArgv(id: TerminalId): readonly string[] {
    const terminal = requireTerminal(this.#context, id)
    return this.#context.backend.attachArgv(terminal.sessionName, terminal.pane)
  }

  queueMessage({ uuid, ...message }: Parameters<App['queueMessage']>[0]): ReturnType<App['queueMessage']> {
    const whole = { ...message, kind: 'send_message', jobId: undefined } as const
    return uuid === undefined ? queueMessage(this.#context, whole) : queueOnce(this.#context, uuid, whole)
  }

  getMessage(id: MessageId): ReturnType<App['getMessage']> {
    return requireMessage(this.#context, id)
  }

  searchMessages: App['searchMessages'] = (filter) => this.#context.store.messages.search(filter)
  resendMessage: App['resendMessage'] = (id, receiverId) => resendMessage(this.#context, id, receiverId)
  dropMessage: App['dropMessage'] = (id, by) => dropMessage(this.#context, id, by)

  listMessages: App['listMessages'] = (receiverId, options) => listMessages(this.#context, receiverId, options)

  startJob(request: StartJob, waiting: Waiting): ReturnType<App['startJob']> {
    return this.#parts.jobs.start(request, waiting)
  }

  getJob(id: JobId): ReturnType<App['getJob']> {
    return this.#parts.jobs.ends.require(id)
  }

  waitForJob(id: JobId, waitMs: number, waiting: Waiting): ReturnType<App['waitForJob']> {
    return this.#parts.jobs.ends.wait(id, waitMs, waiting)
  }

  async cancelJob(id: JobId, _waiting: Waiting): ReturnType<App['cancelJob']> {
    return this.#parts.jobs.cancel(id)
  }

  listJobs: App['listJobs'] = (filter) => this.#parts.jobs.list(filter)
  getJobAttention: App['getJobAttention'] = (job) => this.#parts.jobs.attentionOf(job)
  retryJob: App['retryJob'] = (id, retry, waiting) => this.#parts.jobs.retry(id, retry, waiting)
  reportJob: App['reportJob'] = (id, report) => this.#parts.jobs.news.report(id, report)

  listWorktrees: App['listWorktrees'] = (options, { signal }) => listWorktrees(this.#context, options, signal)
  findWorktree: App['findWorktree'] = (id) => this.#context.store.worktrees.find(id)

  removeWorktree(request: RemoveWorktree, { signal }: Waiting): Promise<void> {
    return removeWorktree(this.#context, request, signal)
  }

  showWorktreeSetup: App['showWorktreeSetup'] = (directory, { signal }) => showSetup(this.#context, directory, signal)
  trustWorktreeSetup: App['trustWorktreeSetup'] = (directory, digest, { signal }) =>
    trustSetup(this.#context, { directory, digest }, signal)

  notifyState(): ReturnType<App['notifyState']> {
    const { rules, states } = this.#parts.notices
    return { rules, states }
  }

  testNotify: App['testNotify'] = (waiting) => this.#parts.notices.test(waiting)

  listQuestions: App['listQuestions'] = (look = {}) => listQuestions(this.#context, look)
  answerQuestion: App['answerQuestion'] = (request, waiting) => answerQuestion(this.#context, request, waiting)

  holdQueue: App['holdQueue'] = (id, hold) => {
    requireTerminal(this.#context, id)
    holdQueue(this.#context, id, hold)
    return this.getTerminal(id)
  }

  releaseQueue: App['releaseQueue'] = (id, by) => {
    requireTerminal(this.#context, id)
    releaseQueue(this.#context, id, by)
    return this.getTerminal(id)
  }

  subscribe(afterSeq: number | undefined, listener: (event: DomainEvent) => void): ReturnType<App['subscribe']> {
    return this.#context.events.subscribe(afterSeq, listener)
  }

  listEvents(afterSeq: number, limit: number): readonly DomainEvent[] | undefined {
    return this.#context.events.list(afterSeq, limit)
  }

  lastEventSeq(): number {
    return this.#context.store.events.lastSeq()
  }
}

/** Status of a terminal that nothing watches: its row tells. */
function viewEnded(terminal: Terminal): StatusView {
  const base = { ...initialStatus(terminal.lastActiveAtMs), questionId: undefined }
  if (terminal.life === 'lost') return { ...base, status: 'error', reason: 'lost', detail: terminal.lostReason }
  if (terminal.life !== 'exited') return base
  const { code, signal } = terminal.exit ?? {}
  const detail = `the agent's program ended (${signal ?? (code === undefined ? 'unseen' : `code ${code}`)})`
  return { ...base, status: code === 0 ? 'completed' : 'error', reason: 'exited', detail }
}

/** It is ended already: by the same wish a moment ago, or by its own death. */
function acceptGone(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'BACKEND_GONE') throw error
}
