/**
 * One agent as the conformance suite drives it: launched by its provider's plan on a backend, with its hooks read from a
 * spool directory, and waits that name what they wait for. It does by hand what `app/` does in the product.
 */

import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '../async/clock-system.ts'
import type { BackendTerminal, TerminalBackend } from '../backend/backend.ts'
import { type MessageToken, makeTerminalId, parseSessionName } from '../domain/ids.ts'
import { blankProfile, type Profile } from '../domain/profile.ts'
import type { QuestionText, TurnOutcome } from '../domain/status.ts'
import type { Binding, Exit } from '../domain/terminal.ts'
import { silentLog } from '../lib/log.ts'
import type { Size, Snapshot } from '../screen/snapshot.ts'
import type {
  AnswerOutcome,
  AnswerPlan,
  ChannelAnswer,
  Key,
  Provider,
  ProviderSignals,
  ScreenReading,
  Signal,
} from './provider.ts'

const stepLimitMs = 20_000
const pollGapMs = 30
/** A program that has just drawn a dialog may not listen yet. */
const answerAgainMs = 1_500
const submitAgainMs = 1_500
/** DECSET 2004. */
const bracketedPasteOn = '\u001b[?2004h'

const profile: Profile = { ...blankProfile, name: 'conformance', description: 'the conformance suite' }

export type RunOptions = {
  readonly provider: Provider
  readonly backend: TerminalBackend
  readonly clientEnv: Readonly<Record<string, string>>
  readonly size: Size
  readonly permissionMode?: string
  /** For each single wait; a program that starts slowly needs more than the usual. Units: ms. */
  readonly stepLimitMs?: number | undefined
}

const randomHex = (digits: number): string => randomBytes(digits).toString('hex').slice(0, digits)
const waiting = (limitMs = stepLimitMs) => ({ signal: AbortSignal.timeout(limitMs) })

/** A hook that keeps each event's payload in a file, and the order in an index. */
const hookScript = `d=$1; f=$$; while [ -e "$d/$f.json" ]; do f=x$f; done
cat >"$d/.$$" && mv "$d/.$$" "$d/$f.json" && echo "$f.json $2" >>"$d/index"; exit 0`

/** Owns: its terminal, its signals and its folder; dispose ends them. */
export class RunningAgent implements AsyncDisposable {
  readonly heard: Signal[] = []
  readonly #options: RunOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'cao-conformance-'))
  readonly #cwd = join(this.#folder, 'cwd')
  readonly #terminalId = makeTerminalId(randomHex)
  #terminal: BackendTerminal | undefined
  #signals: ProviderSignals | undefined
  #output: Disposable | undefined
  #binding: Binding = {}
  #hooksRead = 0
  /** Ends counted so far, so that each wait is for a new one. */
  #endsSeen = 0
  #isReading = false
  /** Some draw their composer before they take a paste as one. */
  #isBracketed = false

  private constructor(options: RunOptions) {
    this.#options = options
  }

  static async start(options: RunOptions): Promise<RunningAgent> {
    const agent = new RunningAgent(options)
    await agent.#launch(undefined)
    return agent
  }

  /** By which it is found again. */
  get binding(): Binding {
    return this.#binding
  }

  /** Starts it again with what it left behind. */
  async relaunch(): Promise<void> {
    await this.#close()
    await this.#launch(this.#binding)
  }

  async #launch(resume: Binding | undefined): Promise<void> {
    const { provider, backend, clientEnv, size } = this.#options
    const cwd = this.#cwd
    const [privateDir, spoolDir] = [join(this.#folder, 'private'), join(this.#folder, 'spool')]
    for (const directory of [cwd, privateDir, spoolDir]) mkdirSync(directory, { recursive: true, mode: 0o700 })
    const program = await provider.findProgram(clientEnv)
    if (program.kind === 'missing') throw new Error(`${provider.title} is not installed: ${program.hint}`)
    const plan = await provider.planLaunch({
      terminalId: this.#terminalId,
      profile: { ...profile, permissionMode: this.#options.permissionMode },
      systemPrompt: 'You are tested.',
      allowedTools: undefined,
      model: undefined,
      program: program.path,
      cwd,
      privateDir,
      spoolDir,
      hookArgv: ['/bin/sh', '-c', hookScript, 'hook', spoolDir],
      mcp: { argv: ['/bin/false'], env: {} },
      clientEnv,
      port: provider.capabilities.has('needs-port') ? await findPort() : undefined,
      randomHex,
      resume,
    })
    for (const { path, target, isFolder } of plan.links ?? []) {
      if (isFolder === true) mkdirSync(target, { recursive: true, mode: 0o700 })
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      rmSync(path, { recursive: true, force: true })
      symlinkSync(target, path)
    }
    for (const file of plan.files) {
      mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 })
      writeFileSync(file.path, file.content, { mode: 0o600 })
    }
    this.#binding = plan.binding
    const sessionName = parseSessionName(`conformance-${this.#terminalId}`)
    if (sessionName === undefined) throw new Error('no session name')
    const opened = await backend.open(
      { terminalId: this.#terminalId, sessionName, windowName: 'agent', argv: plan.argv, cwd, env: plan.env, size },
      waiting(),
    )
    if (opened.kind === 'refused') throw new Error(`not opened: ${opened.reason} ${opened.detail}`)
    this.#terminal = opened.terminal
    this.#isBracketed = false
    this.#signals = provider.openSignals({
      terminalId: this.#terminalId,
      cwd,
      privateDir,
      binding: plan.binding,
      clock: systemClock,
      log: silentLog,
      emit: (signal) => {
        this.heard.push(signal)
        if (signal.kind === 'bound') this.#binding = { ...this.#binding, ...signal.binding }
      },
    })
    this.#output = opened.terminal.follow(0, ({ bytes }) => {
      this.#isBracketed ||= Buffer.from(bytes).includes(bracketedPasteOn)
      this.#signals?.handleOutput?.(bytes)
    })
    void this.#readHooks(join(spoolDir, 'index'))
  }

  get #pane(): BackendTerminal {
    if (this.#terminal === undefined) throw new Error('no terminal is open')
    return this.#terminal
  }

  async snapshot(): Promise<Snapshot> {
    const captured = await this.#pane.capture({}, waiting())
    if (captured.kind === 'gone') throw new Error('the terminal is gone')
    return captured.snapshot
  }

  async read(): Promise<ScreenReading> {
    return this.#options.provider.readScreen(await this.snapshot())
  }

  async paste(text: string): Promise<void> {
    const outcome = await this.#pane.paste(text, { mark: randomHex(12) }, waiting())
    if (outcome.kind !== 'done') throw new Error(`not pasted: ${outcome.reason}`)
  }

  async press(keys: readonly Key[]): Promise<void> {
    const outcome = await this.#pane.press(keys, waiting())
    if (outcome.kind !== 'done') throw new Error(`not pressed: ${outcome.reason}`)
  }

  /** Pastes, sees the draft, lets it settle, submits. */
  async send(text: string): Promise<void> {
    const { submit, settleMs } = this.#options.provider.quirks
    await this.paste(text)
    await this.waitForReading('the draft', ({ composer }) => composer.kind === 'draft' || composer.kind === 'collapsed')
    await pause(settleMs)
    await this.press(submit)
    await this.#submitAgain(submit)
  }

  /** As the product does: one more where the draft still stands after a while, as on a busy machine. */
  async #submitAgain(submit: readonly Key[]): Promise<void> {
    const endMs = performance.now() + submitAgainMs
    while (performance.now() < endMs) {
      const { composer } = await this.read()
      if (composer.kind !== 'draft' && composer.kind !== 'collapsed') return
      await pause(pollGapMs)
    }
    await this.press(submit)
  }

  waitForReading(what: string, test: (reading: ScreenReading) => boolean): Promise<ScreenReading> {
    return this.#waitFor(what, async () => {
      const reading = await this.read()
      return test(reading) ? reading : undefined
    })
  }

  /**
   * Ready on the screen, twice in a row. Presses through dialogs that CAO may answer. `isClearing`: a draft is cleared;
   * some programs give a prompt back that was interrupted before the first word.
   */
  async waitForReady({ isClearing = false } = {}): Promise<void> {
    let quiet = 0
    let answered = { text: '', againMs: 0 }
    await this.#waitFor('a ready screen', async () => {
      const { claim, composer, dialog } = await this.read()
      const isElsewhere = dialog?.directory !== undefined && dialog.directory !== this.#cwd
      const isNew = dialog?.text !== answered.text || performance.now() > answered.againMs
      if (dialog?.answer !== undefined && isNew && !isElsewhere) {
        answered = { text: dialog.text, againMs: performance.now() + answerAgainMs }
        await this.press(dialog.answer)
      }
      if (isClearing && composer.kind === 'draft') await this.press(this.#options.provider.quirks.clear)
      quiet = claim?.kind === 'ready' && composer.kind === 'empty' && this.#isBracketed ? quiet + 1 : 0
      return quiet >= 2 ? true : undefined
    })
  }

  waitForSignal(what: string, test: (heard: readonly Signal[]) => boolean): Promise<true> {
    return this.#waitFor(what, () => Promise.resolve(test(this.heard) ? true : undefined))
  }

  /** The end of one more turn, as the signals announce it; by the screen where none does. */
  async waitForEnd(outcome: TurnOutcome): Promise<void> {
    const { announces } = this.#options.provider
    if (!Object.values(announces).some((kinds) => kinds.includes('turn_ended'))) return this.waitForReady()
    const end = await this.#waitFor(`a turn that ended as ${outcome}`, () => {
      const ends = this.heard.flatMap((signal) =>
        signal.kind === 'claim' && signal.claim.kind === 'turn_ended' ? [signal.claim] : [],
      )
      return Promise.resolve(ends[this.#endsSeen])
    })
    this.#endsSeen++
    if (end.outcome !== outcome) throw new Error(`the turn ended as ${end.outcome}, not ${outcome}`)
  }

  /** The question on the screen; what a better source said about it, when it did. */
  async waitForQuestion(reason: 'permission' | 'question'): Promise<QuestionText> {
    const shown = await this.#waitFor(`a ${reason} dialog on the screen`, async () => {
      const { claim } = await this.read()
      return claim?.kind === 'waiting' && claim.reason === reason ? claim.question : undefined
    })
    const told = this.heard.findLast((signal) => signal.kind === 'claim' && signal.claim.kind === 'waiting')
    return told?.kind === 'claim' && told.claim.kind === 'waiting' ? told.claim.question : shown
  }

  /** Breaks the turn off. A turn that has only just begun may not hear it yet: then once more. */
  async interrupt(): Promise<void> {
    for (let isBusy = true; isBusy; ) {
      await this.press(this.#options.provider.quirks.interrupt)
      const againMs = performance.now() + answerAgainMs
      while (isBusy && performance.now() < againMs) {
        await pause(pollGapMs)
        isBusy = (await this.read()).claim?.kind === 'busy'
      }
    }
  }

  async plan(question: QuestionText, answer: string): Promise<AnswerPlan> {
    return this.#options.provider.planAnswer(question, answer, await this.snapshot())
  }

  async answer(question: QuestionText, answer: string): Promise<void> {
    await pause(this.#options.provider.quirks.dialogSettleMs ?? 0)
    for (;;) {
      const shown = await this.snapshot()
      const plan = this.#options.provider.planAnswer(question, answer, shown)
      if (plan.kind === 'refused') throw new Error(`the answer was refused: ${plan.why}`)
      await this.press(plan.keys)
      if (plan.isPartial !== true) return
      await this.#waitFor('the screen to follow', async () =>
        isSameScreen(await this.snapshot(), shown) ? undefined : true,
      )
    }
  }

  /** By the program's own channel. */
  answerByChannel(question: QuestionText, answer: string): Promise<ChannelAnswer | undefined> {
    return this.#requireSignals().answer?.(question, answer, waiting()) ?? Promise.resolve(undefined)
  }

  loadAnswer(): Promise<AnswerOutcome> {
    return this.#requireSignals().loadAnswer(waiting())
  }

  findAccepted(token: MessageToken): Promise<'yes' | 'no' | 'unknown'> {
    return this.#requireSignals().findAccepted(token, waiting())
  }

  async exit(): Promise<void> {
    for (const { keys, pauseMs } of this.#options.provider.quirks.exit) {
      const outcome = await this.#pane.press(keys, waiting())
      // It may be gone already; that is what was wanted.
      if (outcome.kind === 'refused') return
      await pause(pauseMs)
    }
  }

  async waitForExit(): Promise<Exit> {
    let exit: Exit | undefined
    void this.#pane.exited.then((ended) => {
      exit = ended
    })
    return this.#waitFor('the agent to end', () => Promise.resolve(exit))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #close(): Promise<void> {
    this.#isReading = false
    this.#output?.[Symbol.dispose]()
    await this.#signals?.[Symbol.asyncDispose]()
    this.#signals = undefined
    const terminal = this.#terminal
    this.#terminal = undefined
    await terminal?.destroy({ graceMs: 200 }, waiting())
    await terminal?.[Symbol.asyncDispose]()
  }

  #requireSignals(): ProviderSignals {
    if (this.#signals === undefined) throw new Error('no signals are open')
    return this.#signals
  }

  async #readHooks(index: string): Promise<void> {
    this.#isReading = true
    while (this.#isReading) {
      const lines = readIndex(index)
      for (const line of lines.slice(this.#hooksRead)) {
        this.#hooksRead++
        const [file = '', name = ''] = line.split(' ')
        const payload: unknown = JSON.parse(readFileSync(join(dirname(index), file), 'utf8'))
        this.#signals?.handleHook({ name, payload, file, atMs: systemClock.nowMs() })
      }
      await pause(pollGapMs)
    }
  }

  /** Errors: an Error that names `what` and shows the screen. */
  async #waitFor<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
    const limitMs = this.#options.stepLimitMs ?? stepLimitMs
    const endMs = performance.now() + limitMs
    for (;;) {
      const value = await find()
      if (value !== undefined) return value
      if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms for ${what}\n${await this.#describe()}`)
      await pause(pollGapMs)
    }
  }

  async #describe(): Promise<string> {
    const screen = this.#terminal === undefined ? [] : (await this.snapshot()).lines
    const signals = this.heard.map((signal) => JSON.stringify(signal).slice(0, 200))
    return [...screen, ...signals].join('\n')
  }
}

const isSameScreen = (a: Snapshot, b: Snapshot): boolean => a.lines.join('\n') === b.lines.join('\n')

function readIndex(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs))
}

/** A loopback port that is free now. */
function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
