/**
 * The structured channels of one Gemini CLI, or of a program made from it: the title in what it prints, and its records, which are
 * followed. One loop reads both: first the records up to their end, then the titles that were printed before. What they add up to is
 * `conversation.ts`.
 */
import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { Scope } from '../../async/scope.ts'
import { SignalLatch } from '../../async/signal-latch.ts'
import { sleep, type Waiting } from '../../async/wait.ts'
import type { MessageToken } from '../../domain/ids.ts'
import type { AnswerOutcome, HookEvent, ProviderSignals, SignalContext } from '../provider.ts'
import { type FamilyBinding, formatBinding, parseBinding } from './binding.ts'
import { type ChatLayout, type ChatParser, findChatsDir, listChats, loadChat, readChat } from './chat-files.ts'
import { type Conversation, type Fact, newConversation, stepConversation, type Tell } from './conversation.ts'
import { type ProgramState, type ReadTitle, TitleScanner } from './title.ts'
import { type ChatRecord, listTurns, readEnd } from './turn.ts'

/** Between two looks at the records, for what the watch missed. Units: ms. */
const slowLookMs = 2_000
/** Until the records' folder is there. Units: ms. */
const soonLookMs = 200
/** For a record to explain a title of rest. Units: ms. */
const settleMs = 3_000
/** Between two looks at a record that is not settled. Units: ms. */
const rereadGapMs = 50

export type ProgramFamily = {
  /** For the log. */
  readonly title: string
  readonly readTitle: ReadTitle
  readonly layoutOf: (binding: FamilyBinding) => ChatLayout
}

export class FamilySignals implements ProviderSignals {
  readonly #context: SignalContext
  readonly #binding: FamilyBinding | undefined
  readonly #layout: ChatLayout | undefined
  readonly #scope: Scope
  readonly #latch = new SignalLatch()
  readonly #scanner: TitleScanner
  readonly #titles: ProgramState[] = []
  readonly #offsets: Record<string, number>
  readonly #parsers = new Map<string, ChatParser>()
  #sessionId: string | undefined
  #chatsDir: string | undefined
  /** The record that was written to last. */
  #current: string | undefined
  #watcher: FSWatcher | undefined
  #state: Conversation = newConversation

  constructor(context: SignalContext, family: ProgramFamily) {
    const { binding, clock, log } = context
    this.#context = context
    this.#scanner = new TitleScanner(family.readTitle)
    this.#binding = parseBinding(binding)
    this.#layout = this.#binding === undefined ? undefined : family.layoutOf(this.#binding)
    this.#sessionId = this.#binding?.vendorSessionId
    this.#offsets = { ...this.#binding?.offsets }
    this.#scope = new Scope(clock, (name, error) => {
      log.write('error', `channel of ${family.title} failed`, { name, error: String(error) })
    })
    if (this.#layout === undefined) log.write('warn', 'the conversations of this terminal are not known', {})
    else this.#scope.spawn('records and titles', (signal) => this.#follow(signal))
  }

  handleHook(event: HookEvent): void {
    this.#context.log.write('debug', 'hook event says nothing', { hook: event.name, file: event.file })
  }

  handleOutput(bytes: Uint8Array): void {
    const titles = this.#scanner.feed(bytes)
    if (titles.length === 0) return
    this.#titles.push(...titles)
    this.#latch.raise()
  }

  async loadAnswer(waiting: Waiting, which: 'ended' | 'newest' = 'ended'): Promise<AnswerOutcome> {
    for (;;) {
      const records = await this.#loadCurrent()
      const turns = listTurns(records)
      const turn = this.#state.isTurnOpen && which === 'ended' ? turns.at(-2) : turns.at(-1)
      const end = turn === undefined ? undefined : readEnd(turn, turn.lastMs)
      if (end?.outcome === 'answered') return { kind: 'exact', text: end.text, source: 'transcript', cost: end.cost }
      if (end !== undefined) return { kind: 'none', why: `the turn has no answer: ${end.outcome}` }
      if (waiting.signal.aborted || !(await this.#pause(rereadGapMs, waiting.signal))) {
        return { kind: 'none', why: records.length === 0 ? 'there is no record' : 'no turn has ended' }
      }
    }
  }

  async findAccepted(token: MessageToken, _waiting: Waiting): Promise<'yes' | 'no' | 'unknown'> {
    const chats = await this.#loadChats()
    if (chats === undefined) return 'unknown'
    return chats.some((records) => records.some((record) => hasToken(record, token))) ? 'yes' : 'no'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope[Symbol.asyncDispose]()
    this.#watcher?.close()
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    while (!signal.aborted) {
      const titles = this.#titles.splice(0)
      await this.#readRecords()
      const atMs = clock.nowMs()
      for (const state of titles) this.#take({ kind: 'program', state, atMs }, `title ${state}`)
      await this.#latch.wait(clock, this.#chatsDir === undefined ? soonLookMs : slowLookMs, signal)
    }
  }

  async #readRecords(): Promise<void> {
    const [dir, layout] = [await this.#findDir(), this.#layout]
    if (dir === undefined || layout === undefined) return
    for (const name of await listChats(dir, layout)) await this.#readOne(dir, name, layout)
  }

  async #readOne(dir: string, name: string, layout: ChatLayout): Promise<void> {
    const before = this.#offsets[name] ?? 0
    const parser = this.#parsers.get(name) ?? layout.newParser()
    this.#parsers.set(name, parser)
    const { records, nextOffset } = await readChat(join(dir, name), before, parser)
    if (nextOffset === before) return
    this.#offsets[name] = nextOffset
    if (records.length === 0) return
    if (name !== this.#current) {
      this.#current = name
      this.#sessionId = (await loadChat(dir, name, layout)).sessionId ?? this.#sessionId
    }
    for (const record of records) this.#take({ kind: 'record', record }, `${name}: ${record.kind}`)
    // Once for each step of a turn: what was taken in is not told again after a restart.
    this.#bind()
  }

  async #findDir(): Promise<string | undefined> {
    if (this.#chatsDir !== undefined || this.#layout === undefined) return this.#chatsDir
    const dir = await findChatsDir(this.#layout)
    if (dir === undefined) return undefined
    this.#chatsDir = dir
    this.#watcher = this.#watch(dir)
    return dir
  }

  #watch(path: string): FSWatcher | undefined {
    try {
      const watcher = watch(path, { persistent: false }, () => this.#latch.raise())
      watcher.on('error', () => this.#latch.raise())
      return watcher
    } catch (error) {
      if (error instanceof Error && 'code' in error) return undefined
      throw error
    }
  }

  #bind(): void {
    const { emit, binding } = this.#context
    if (this.#binding === undefined) return
    const own = { ...this.#binding, vendorSessionId: this.#sessionId, offsets: this.#offsets }
    emit({ kind: 'bound', binding: { ...binding, ...formatBinding(own) } })
  }

  #take(fact: Fact, raw: string): void {
    const { state, tells } = stepConversation(this.#state, fact)
    this.#state = state
    for (const tell of tells) this.#tell(tell, raw)
  }

  #tell(tell: Tell, raw: string): void {
    const { emit } = this.#context
    switch (tell.kind) {
      case 'claim':
        return emit({ kind: 'claim', source: tell.source, claim: tell.claim, atMs: tell.atMs, raw })
      case 'accepted':
        return emit({ kind: 'accepted', source: 'transcript', text: tell.text, atMs: tell.atMs, raw })
      case 'look':
        return this.#scope.spawn('late record', async (signal) => {
          if (!(await this.#pause(settleMs, signal))) return
          await this.#readRecords()
          const late = { kind: 'late', turnMs: tell.turnMs, atMs: this.#context.clock.nowMs() } as const
          this.#take(late, 'a title of rest, and no record of it')
        })
    }
  }

  /** The record of the conversation on the screen: the one that holds the last prompt. */
  async #loadCurrent(): Promise<readonly ChatRecord[]> {
    const chats = (await this.#loadChats()) ?? []
    const withPrompts = chats.flatMap((records) => {
      const last = records.findLast(({ kind }) => kind === 'prompt')
      return last === undefined ? [] : [{ records, atMs: last.atMs }]
    })
    return withPrompts.toSorted((a, b) => a.atMs - b.atMs).at(-1)?.records ?? []
  }

  /** undefined when nothing is there to be read. */
  async #loadChats(): Promise<readonly (readonly ChatRecord[])[] | undefined> {
    const [dir, layout] = [await this.#findDir(), this.#layout]
    if (dir === undefined || layout === undefined) return undefined
    const names = await listChats(dir, layout)
    return Promise.all(names.map(async (name) => (await loadChat(dir, name, layout)).records))
  }

  /** False when the wait is over. */
  async #pause(gapMs: number, signal: AbortSignal): Promise<boolean> {
    try {
      await sleep(this.#context.clock, gapMs, signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      throw error
    }
  }
}

const hasToken = (record: ChatRecord, token: MessageToken): boolean =>
  record.kind === 'prompt' && record.text.includes(token)
