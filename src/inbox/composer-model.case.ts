/**
 * A small but complete agent with a composer, for the delivery model test: it takes pastes, Enters and drafts of
 * people as a terminal program does, records what it accepted, works, and misbehaves as real ones were measured to
 * (lost Enters, slow painting). It outlives the worker that types into it, as agents outlive our server.
 */
import type { Clock } from '../async/clock.ts'
import type { InputOutcome } from '../backend/backend.ts'
import type { MessageToken, TerminalId } from '../domain/ids.ts'
import type { Key, Quirks, ScreenReading } from '../providers/provider.ts'
import type { Snapshot } from '../screen/snapshot.ts'
import type { Gate, Receiver } from './receiver.ts'

export type Misbehaviour = {
  /** This many of the next Enters are lost. */
  readonly swallowedEnters: number
  /** A paste is painted this much later. Units: ms. */
  readonly paintMs: number
  readonly turnMs: number
  /** The record of an accepted text reaches us; false: it is lost. */
  readonly isRecorded: boolean
  /** An interrupt gives the prompt back into the composer. */
  readonly isRestoring?: boolean
}

const quirks: Quirks = {
  settleMs: 20,
  startupLimitMs: 1_000,
  hungAfterMs: 60_000,
  submit: [{ kind: 'key', name: 'Enter' }],
  typedCharsMax: 40,
  interrupt: [{ kind: 'key', name: 'Escape' }],
  clear: [{ kind: 'key', name: 'C-u' }],
  exit: [],
}

export class ComposerModel {
  readonly accepted: string[] = []
  pastes: string[] = []
  /** What was written for it to read, by token. */
  readonly files = new Map<string, string>()
  lastMark: string | undefined
  composer = ''
  #shown = ''
  isBusy = false
  turns = 0
  interrupts = 0
  /** What was taken out of the composer. */
  readonly cleared: string[] = []
  #turn: Disposable | undefined
  onAccepted: (text: string) => void = () => undefined
  onTurnStarted: () => void = () => undefined
  onTurnEnded: (outcome: 'answered' | 'interrupted') => void = () => undefined
  /** Called around every port call; may throw, as a crash of ours does. */
  beforeEffect: () => void = () => undefined
  afterEffect: () => void = () => undefined
  readonly #clock: Clock
  readonly #id: TerminalId
  #swallowedEnters: number
  readonly #behaviour: Misbehaviour

  constructor(clock: Clock, id: TerminalId, behaviour: Misbehaviour) {
    this.#clock = clock
    this.#id = id
    this.#behaviour = behaviour
    this.#swallowedEnters = behaviour.swallowedEnters
  }

  #paste(text: string): void {
    this.pastes.push(text)
    this.composer += text
    this.#clock.after(this.#behaviour.paintMs, () => {
      this.#shown = this.composer
    })
  }

  #enter(): void {
    if (this.#swallowedEnters > 0) {
      this.#swallowedEnters--
      return
    }
    if (this.composer === '' || this.isBusy) return
    const text = this.composer
    this.composer = ''
    this.#shown = ''
    this.accepted.push(text)
    this.isBusy = true
    if (this.#behaviour.isRecorded) this.onAccepted(text)
    this.onTurnStarted()
    this.#turn = this.#clock.after(this.#behaviour.turnMs, () => this.#end('answered'))
  }

  #end(outcome: 'answered' | 'interrupted'): void {
    this.#turn?.[Symbol.dispose]()
    this.isBusy = false
    this.turns++
    this.onTurnEnded(outcome)
  }

  #escape(): void {
    if (!this.isBusy) return
    this.interrupts++
    if (this.#behaviour.isRestoring === true && this.composer === '') {
      this.composer = this.accepted.at(-1) ?? ''
      this.#shown = this.composer
    }
    this.#end('interrupted')
  }

  #clear(): void {
    this.cleared.push(this.composer)
    this.composer = ''
    this.#shown = ''
  }

  /** A person types; what is there already stays. */
  typeByHand(text: string): void {
    this.composer += text
    this.#shown = this.composer
  }

  async #port<T>(effect: () => T): Promise<T> {
    await Promise.resolve()
    this.beforeEffect()
    const result = effect()
    this.afterEffect()
    return result
  }

  /** The model as the worker sees it. `hasProofOfBody` false: only the screen tells. */
  asReceiver(hasProofOfBody: boolean): Receiver {
    const gate = (): Gate => (this.isBusy ? { kind: 'held', why: 'busy' } : { kind: 'open' })
    const done: InputOutcome = { kind: 'done' }
    return {
      id: this.#id,
      quirks,
      hasProofOfBody,
      isBracketed: true,
      gate,
      isBusy: () => this.isBusy,
      turnsEnded: () => this.turns,
      look: () => this.#port(() => ({ snapshot: this.#snapshot(), reading: this.#reading() })),
      paste: (text: string, mark: string) =>
        this.#port(() => {
          this.#paste(text)
          this.lastMark = mark
          return done
        }),
      bodyFile: ({ token }) => `/messages/${token}.txt`,
      writeBody: (message) =>
        this.#port(() => {
          this.files.set(message.token, message.body)
        }),
      lastPasteMark: () => this.#port(() => this.lastMark),
      press: (keys: readonly Key[]) =>
        this.#port(() => {
          for (const key of keys) {
            if (key.kind !== 'key') continue
            if (key.name === 'Enter') this.#enter()
            if (key.name === 'Escape') this.#escape()
            if (key.name === 'C-u') this.#clear()
          }
          return done
        }),
      findAccepted: (token: MessageToken) =>
        this.#port(() =>
          hasProofOfBody ? (this.accepted.some((text) => text.includes(token)) ? 'yes' : 'no') : 'unknown',
        ),
    }
  }

  #snapshot(): Snapshot {
    return {
      lines: [...this.accepted, this.#shown],
      size: { cols: 80, rows: 24 },
      title: '',
      isAlternate: false,
      cursor: { x: 0, y: 0, isVisible: true },
      mode: undefined,
      isInputOff: false,
      atMs: this.#clock.nowMs(),
    }
  }

  #reading(): ScreenReading {
    const composer = this.#shown === '' ? ({ kind: 'empty' } as const) : ({ kind: 'draft', text: this.#shown } as const)
    return { claim: undefined, rule: 'model', composer, dialog: undefined }
  }
}
