/**
 * One turn: the rules of a message, done one after the other. It ends in one of three ways, and the record and the hooks
 * are told which.
 */
import type { Clock } from '../../async/clock.ts'
import { sleep } from '../../async/wait.ts'
import { fillInArgs, renderText } from '../rules/fill-in.ts'
import { parseCall, parseNumber, parseQuestion, type Step } from '../rules/rules.ts'
import { longText, markdownText, unicodeText } from '../rules/texts.ts'
import { AnswerStream } from './answer-stream.ts'
import * as canned from './canned.ts'
import type { ComposerBox } from './composer.ts'
import type { Conversation } from './conversation.ts'
import type { McpServers } from './mcp.ts'
import type { Screen } from './screen.ts'
import { runShell } from './shell.ts'
import type { Memory } from './turn-plan.ts'

export type TurnEnd =
  | { readonly outcome: 'answered'; readonly answer: string }
  | { readonly outcome: 'interrupted'; readonly answer: string }
  | {
      readonly outcome: 'failed'
      readonly answer: string
      readonly reason: 'rate_limited' | 'api_error'
      readonly detail: string
    }

export type TurnParts = {
  readonly clock: Clock
  /** Aborts when the person interrupts. */
  readonly signal: AbortSignal
  readonly screen: Screen
  readonly conversation: Conversation
  readonly mcp: McpServers
  readonly composer: ComposerBox
  readonly cwd: string
  /** Ends the whole program in the middle of the turn. */
  readonly end: (code: number) => void
  readonly ask: (
    kind: 'permission' | 'question',
    text: string,
    options?: readonly string[],
  ) => Promise<string | undefined>
}

/** An answer is written in this many pieces, this far apart: it streams, and takes no time that matters. */
const pieces = 4
const pieceGapMs = 8
const second = 1_000
const wordGapMs = 250

class TurnFailure extends Error {
  override readonly name = 'TurnFailure'
  readonly reason: 'rate_limited' | 'api_error'
  constructor(reason: 'rate_limited' | 'api_error', detail: string) {
    super(detail)
    this.reason = reason
  }
}

export class Turn {
  readonly #parts: TurnParts
  readonly #answer: AnswerStream

  constructor(parts: TurnParts) {
    this.#parts = parts
    this.#answer = new AnswerStream({
      show: (lines) => parts.screen.add(lines),
      showTail: (tail) => parts.screen.set({ tail }),
    })
  }

  /** Does the steps. Errors: none of a turn's own; bugs and a full disk pass through. */
  async run(steps: readonly Step[], memory: Memory): Promise<TurnEnd> {
    try {
      for (const step of steps) {
        this.#parts.signal.throwIfAborted()
        await this.#perform(step, memory)
        this.#answer.endBlock()
        if (step.verb === 'reply') break
      }
      await this.#closeWithResult(memory)
      return { outcome: 'answered', answer: this.#answer.text }
    } catch (error) {
      this.#answer.endBlock()
      const answer = this.#answer.text
      if (this.#parts.signal.aborted) return { outcome: 'interrupted', answer }
      if (!(error instanceof TurnFailure)) throw error
      return { outcome: 'failed', answer, reason: error.reason, detail: error.message }
    }
  }

  /** Writes how it ended and tells the hooks. */
  async report(end: TurnEnd): Promise<void> {
    const { conversation } = this.#parts
    if (end.outcome === 'failed') {
      conversation.record('error', end.detail)
      await conversation.tell('Failed', { reason: end.reason, detail: end.detail })
    } else {
      conversation.record(end.outcome === 'answered' ? 'assistant' : 'interrupted', end.answer)
    }
    await conversation.tell('TurnEnded', { outcome: end.outcome, answer: end.answer })
  }

  async #perform(step: Step, memory: Memory): Promise<void> {
    const { clock, signal, conversation, composer } = this.#parts
    const { rest } = step
    switch (step.verb) {
      case 'reply':
      case 'say':
        return this.#write(renderText(rest, memory))
      case 'think':
        return conversation.note(`∴ ${renderText(rest, memory)}`)
      case 'slow':
        return this.#writeSlowly(rest)
      case 'wait':
        return sleep(clock, parseNumber(rest, 0), signal)
      case 'tool':
        return this.#useTool(rest, memory)
      case 'ask':
        return this.#askPerson(rest, memory)
      case 'call':
        return this.#callTool(rest, memory)
      case 'error':
        throw failureOf(rest)
      case 'limit':
        throw new TurnFailure('rate_limited', `API error 429: try again in ${rest}s`)
      case 'hang':
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        })
      case 'long':
        return this.#write(longText(parseNumber(rest, 120)))
      case 'unicode':
        return this.#write(unicodeText)
      case 'markdown':
        return this.#write(markdownText)
      case 'imitate':
        return this.#write(canned.imitationText)
      case 'flood':
        return this.#flood(parseNumber(rest, 256))
      case 'freeze':
        await sleep(clock, 30, signal)
        return freeze(parseNumber(rest, 1_000))
      case 'crash':
        await sleep(clock, 30, signal)
        return this.#parts.end(parseNumber(rest, 1))
      case 'swallow-enter':
        composer.swallowEnters += parseNumber(rest, 1)
        return
      case 'slow-paint':
        composer.slowPaintMs = parseNumber(rest, 0)
        return
      case 'collect':
        return
    }
  }

  /** A turn that only used tools says what came of it, as models do. */
  async #closeWithResult(memory: Memory): Promise<void> {
    const result = memory.results.at(-1)
    if (this.#answer.text !== '' || result === undefined) return
    await this.#write(`DONE ${result}`)
    this.#answer.endBlock()
  }

  async #write(text: string): Promise<void> {
    const size = Math.max(Math.ceil(text.length / pieces), 16)
    for (let at = 0; at < text.length; at += size) {
      if (at > 0) await sleep(this.#parts.clock, pieceGapMs, this.#parts.signal)
      this.#answer.write(text.slice(at, at + size))
    }
  }

  /** Words for so many seconds, several a second, some to a line. */
  async #writeSlowly(rest: string): Promise<void> {
    const count = Math.ceil((parseNumber(rest, 15) * second) / wordGapMs)
    for (let at = 0; at < count; at++) {
      this.#answer.write(`${at === 0 ? '' : at % 8 === 0 ? '\n' : ' '}${canned.wordAt(at)}`)
      await sleep(this.#parts.clock, wordGapMs, this.#parts.signal)
    }
  }

  async #useTool(command: string, memory: Memory): Promise<void> {
    const { ask, conversation } = this.#parts
    const answer = memory.isToolAllowed ? 'Yes' : await ask('permission', `Run this command?\n${command}`)
    this.#parts.signal.throwIfAborted()
    if (answer?.includes('do not ask again')) memory.isToolAllowed = true
    conversation.note(`⚙ ${command}`)
    const result = await runShell(command, this.#parts.cwd, this.#parts.signal)
    conversation.record('tool', `${command}\n${result}`)
    memory.results.push(result)
  }

  async #askPerson(rest: string, memory: Memory): Promise<void> {
    const { text, options } = parseQuestion(rest)
    const answer = await this.#parts.ask('question', renderText(text, memory), options)
    this.#parts.signal.throwIfAborted()
    memory.results.push(answer ?? '')
  }

  async #callTool(rest: string, memory: Memory): Promise<void> {
    const { conversation, mcp, signal } = this.#parts
    const call = parseCall(rest)
    conversation.note(`⚙ ${call.tool}`)
    const outcome =
      call.kind === 'unreadable'
        ? { text: call.why, isError: true }
        : await mcp.call(call.tool, fillInArgs(call.args, memory), signal)
    conversation.record('tool', `${rest}\n${outcome.text}`)
    if (outcome.isError) conversation.note(`  ${call.tool} failed: ${outcome.text.split('\n', 1)[0]}`)
    memory.results.push(outcome.text)
  }

  /** Output that no answer holds. */
  async #flood(kib: number): Promise<void> {
    const line = canned.floodLine()
    const perStep = 64
    for (let left = kib; left > 0; left -= perStep) {
      const count = Math.ceil((Math.min(left, perStep) * 1_024) / line.length)
      this.#parts.screen.add(Array.from({ length: count }, () => ({ mark: '  ', text: line, isDim: true })))
      await sleep(this.#parts.clock, 1, this.#parts.signal)
    }
    await this.#write(`flooded ${kib} KiB`)
  }
}

function failureOf(rest: string): TurnFailure {
  const code = parseNumber(rest, 500)
  return new TurnFailure(code === 429 ? 'rate_limited' : 'api_error', `API error ${code}`)
}

/** The whole program stands still: no key is read, nothing is painted, no signal is handled. */
function freeze(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs)
}
