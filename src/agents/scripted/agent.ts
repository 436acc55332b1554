/**
 * The program: keys in, turns out. At any time it is starting, at rest, in a turn, or in a turn that asks something;
 * messages that are given during a turn wait in line, in sight, and each becomes a turn of its own.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../async/clock.ts'
import { createDeferred, type Deferred, sleep } from '../../async/wait.ts'
import { type ComposerAction, ComposerBox } from './composer.ts'
import type { Conversation } from './conversation.ts'
import { type Dialog, type DialogKind, openDialog, permissionOptions, stepDialog, viewDialog } from './dialog.ts'
import type { McpServers } from './mcp.ts'
import type { Options } from './options.ts'
import type { Screen } from './screen.ts'
import { escapeWaitMs, KeyDecoder, type KeyEvent } from './terminal/keys.ts'
import { Turn, type TurnEnd } from './turn.ts'
import { Planner } from './turn-plan.ts'

/** Messages that may wait for the running turn; the next one stays in the composer's place as a note. */
export const queuedMax = 200
const spinnerGlyphs = ['✶', '✻', '✽', '✢'] as const
const restFooter = 'Enter to send · Esc to interrupt · /exit to leave'
const busyFooter = 'working · Esc to interrupt · messages wait in line'

export type AgentParts = {
  readonly options: Options
  readonly clock: Clock
  readonly screen: Screen
  readonly conversation: Conversation
  readonly mcp: McpServers
  readonly playbook: string
  readonly cwd: string
}

type OpenQuestion = { readonly dialog: Dialog; readonly answer: Deferred<string | undefined> }

export class Agent {
  readonly #parts: AgentParts
  readonly #keys = new KeyDecoder()
  readonly #composer: ComposerBox
  readonly #planner: Planner
  readonly #ended = createDeferred<number>()
  readonly #queued: string[] = []
  #question: OpenQuestion | undefined
  #controller: AbortController | undefined
  #isReady = false
  #escapeTimer: Disposable | undefined

  constructor(parts: AgentParts) {
    const { options, clock, screen } = parts
    this.#parts = parts
    this.#planner = new Planner(parts.playbook)
    this.#composer = new ComposerBox({
      clock,
      swallowEnters: options.misbehaviour.swallowEnters,
      slowPaintMs: options.misbehaviour.slowPaintMs,
      newlineSubmits: !options.misbehaviour.bracketedPaste,
      show: (draft) => screen.set({ draft }),
    })
  }

  /** The exit code, once the program has decided to end. */
  get ended(): Promise<number> {
    return this.#ended.promise
  }

  /** Paints the composer and takes messages from then on. */
  async start(): Promise<void> {
    const { options, clock, screen, conversation, cwd } = this.#parts
    screen.setTitle('scripted · starting')
    if (options.misbehaviour.startupMs > 0) await sleep(clock, options.misbehaviour.startupMs)
    screen.set({ phase: 'main', footer: restFooter })
    if (options.misbehaviour.trustDialog && (await this.#askTrust(cwd)) === undefined) return this.#end(1)
    this.#isReady = true
    this.#rest(undefined)
    await conversation.tell('SessionStart', { cwd })
  }

  handleInput(bytes: Uint8Array): void {
    this.#escapeTimer?.[Symbol.dispose]()
    for (const event of this.#keys.push(bytes)) this.#handleKey(event)
    if (!this.#keys.isUnfinished) return
    this.#escapeTimer = this.#parts.clock.after(escapeWaitMs, () => {
      for (const event of this.#keys.flush()) this.#handleKey(event)
    })
  }

  #handleKey(event: KeyEvent): void {
    if (this.#question !== undefined) return this.#answerQuestion(this.#question, event)
    if (this.#isReady) this.#perform(this.#composer.handle(event))
  }

  #perform(action: ComposerAction): void {
    switch (action.kind) {
      case 'none':
        return
      case 'submit':
        return this.#submit(action.text)
      case 'interrupt':
        return this.#controller?.abort(new Error('interrupted'))
      case 'exit-asked':
        return this.#parts.conversation.note('press C-c again to leave')
      case 'exit':
        return this.#end(0)
    }
  }

  #submit(text: string): void {
    const command = text.trim()
    if (command === '/exit' || command === '/quit') return this.#end(0)
    if (this.#controller === undefined) {
      this.#parts.screen.set({ activity: undefined })
      void this.#runTurns(text).catch((error: unknown) => this.#ended.reject(error))
      return
    }
    if (this.#queued.length >= queuedMax) return this.#parts.conversation.note(`${queuedMax} messages wait already`)
    this.#queued.push(text)
    this.#parts.screen.set({ queued: [...this.#queued] })
  }

  /** One turn, then those that wait. */
  async #runTurns(first: string): Promise<void> {
    for (let text: string | undefined = first; text !== undefined; text = this.#queued.shift()) {
      this.#parts.screen.set({ queued: [...this.#queued] })
      const controller = new AbortController()
      this.#controller = controller
      const end = await this.#runTurn(text, controller.signal)
      this.#rest(end)
    }
  }

  async #runTurn(text: string, signal: AbortSignal): Promise<TurnEnd> {
    const { conversation, clock } = this.#parts
    using _spinner = this.#spin()
    const id = conversation.record('user', text)
    conversation.showMessage(text)
    await conversation.tell('PromptAccepted', { id, text })
    await conversation.tell('TurnStarted', { id })
    const turn = new Turn({
      clock,
      signal,
      screen: this.#parts.screen,
      conversation,
      mcp: this.#parts.mcp,
      composer: this.#composer,
      cwd: this.#parts.cwd,
      end: (code) => process.exit(code),
      ask: (kind, question, options) => this.#ask(kind, question, options),
    })
    const end = await turn.run(this.#planner.plan(text), this.#planner.memory)
    if (end.outcome !== 'answered') this.#planner.forget()
    await turn.report(end)
    return end
  }

  /** Shows work and its time until disposed. */
  #spin(): Disposable {
    const { clock, screen, options } = this.#parts
    const startedAtMs = clock.monotonicMs()
    let frame = 0
    let timer: Disposable | undefined
    const draw = () => {
      const elapsedS = Math.floor((clock.monotonicMs() - startedAtMs) / 1_000)
      const glyph = spinnerGlyphs[frame++ % spinnerGlyphs.length] ?? '✶'
      screen.set({ activity: `${glyph} Working… (${elapsedS}s · esc to interrupt)`, footer: busyFooter })
      if (this.#question === undefined) screen.setTitle('scripted · working')
      timer = clock.after(options.misbehaviour.spinnerMs, draw)
    }
    draw()
    return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
  }

  #rest(end: TurnEnd | undefined): void {
    const { screen } = this.#parts
    this.#controller = undefined
    screen.set({ activity: describeEnd(end), footer: restFooter })
    screen.setTitle('scripted · ready')
  }

  /** Asks the person; undefined when they reject it, which also ends the turn. */
  async #ask(
    kind: 'permission' | 'question',
    text: string,
    options: readonly string[] = permissionOptions,
  ): Promise<string | undefined> {
    const { conversation, screen } = this.#parts
    const id = conversation.record('question', text)
    const answer = this.#openQuestion({ id, kind, text, options })
    const shown = this.#question?.dialog.options ?? options
    screen.setTitle(`scripted · ${kind}`)
    await conversation.tell('QuestionOpened', { id, kind, text, options: shown })
    const given = await answer
    if (given === undefined) this.#controller?.abort(new Error('rejected'))
    await conversation.tell('QuestionClosed', { id })
    return given
  }

  #askTrust(cwd: string): Promise<string | undefined> {
    this.#parts.screen.setTitle('scripted · trust')
    const options = ['Yes, I trust this folder', 'No, leave']
    const text = `Do you trust the files in this folder?\n${cwd}`
    return this.#openQuestion({ id: randomUUID(), kind: 'trust', text, options }).then((answer) =>
      answer === options[0] ? answer : undefined,
    )
  }

  #openQuestion(question: {
    readonly id: string
    readonly kind: DialogKind
    readonly text: string
    readonly options: readonly string[]
  }): Promise<string | undefined> {
    const open: OpenQuestion = { dialog: openDialog(question), answer: createDeferred() }
    this.#question = open
    this.#parts.screen.set({ dialog: viewDialog(open.dialog) })
    return open.answer.promise
  }

  #answerQuestion(open: OpenQuestion, event: KeyEvent): void {
    const step = stepDialog(open.dialog, event)
    if (step.kind === 'open') {
      this.#question = { ...open, dialog: step.dialog }
      this.#parts.screen.set({ dialog: viewDialog(step.dialog) })
      return
    }
    this.#question = undefined
    this.#parts.screen.set({ dialog: undefined })
    open.answer.resolve(step.kind === 'answered' ? step.answer : undefined)
  }

  #end(code: number): void {
    this.#controller?.abort(new Error('the program ends'))
    this.#ended.resolve(code)
  }
}

function describeEnd(end: TurnEnd | undefined): string | undefined {
  if (end === undefined) return undefined
  switch (end.outcome) {
    case 'answered':
      return undefined
    case 'interrupted':
      return '⎋ Interrupted'
    case 'failed':
      return `✗ ${end.detail}`
  }
}
