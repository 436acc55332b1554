/**
 * The agents that take part: a fixed number of slots, each held by one agent after the other. An agent that a fault took
 * is replaced by a new one; every agent that ever took part stays known, for the checker.
 */
import { randomUUID } from 'node:crypto'
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { TerminalBody } from '../protocol/terminal.ts'
import type { Stage } from './stage.ts'
import { sessionCount } from './traffic-plan.ts'

export type Member = {
  readonly slot: number
  readonly id: string
  /** The fault that took it; undefined while it should live. */
  takenBy: string | undefined
}

const startsAtOnce = 3
const startTriesMax = 20
const startLimitMs = 60_000
const retryGapMs = 700

export class Team {
  readonly everybody: Member[] = []
  readonly #stage: Stage
  readonly #slots: (Member | undefined)[]
  readonly #sessions = new Map<number, string>()
  /** Attempts to start an agent whose outcome we never heard: what came of them is nobody's. */
  readonly #abandoned = new Set<string>()

  constructor(stage: Stage, size: number) {
    this.#stage = stage
    this.#slots = Array.from({ length: size }, () => undefined)
  }

  /** undefined while the slot is empty. */
  at(slot: number): Member | undefined {
    return this.#slots[slot]
  }

  get present(): readonly Member[] {
    return this.#slots.filter((member) => member !== undefined)
  }

  /** Starts an agent in each slot that has none. Errors: what keeps one from starting for good. */
  async fill(): Promise<void> {
    const empty = this.#slots.flatMap((member, slot) => (member === undefined ? [slot] : []))
    // The first agent of a session makes it; who comes at the same time would make another.
    for (let group = 0; group < sessionCount; group++) {
      const at = empty.findIndex((slot) => slot % sessionCount === group)
      const [first] = at < 0 || this.#sessions.has(group) ? [] : empty.splice(at, 1)
      if (first !== undefined) await this.#start(first)
    }
    const startSome = async () => {
      for (let slot = empty.shift(); slot !== undefined; slot = empty.shift()) await this.#start(slot)
    }
    await Promise.all(Array.from({ length: startsAtOnce }, startSome))
  }

  /** The agent is, or is about to be, ended by us. */
  take(member: Member, by: string): void {
    member.takenBy = by
    if (this.#slots[member.slot] === member) this.#slots[member.slot] = undefined
  }

  /** Terminals that came of attempts whose outcome was never heard. */
  isAbandoned(terminal: TerminalBody): boolean {
    const attempt = terminal.metadata?.['chaos_attempt']
    return typeof attempt === 'string' && this.#abandoned.has(attempt)
  }

  async #start(slot: number): Promise<void> {
    const { clock, parts } = this.#stage
    for (let tries = 1; ; tries++) {
      const attempt = randomUUID()
      try {
        const { id, session_name } = await this.#create(slot, attempt)
        this.#sessions.set(slot % sessionCount, session_name)
        const member: Member = { slot, id, takenBy: undefined }
        this.#slots[slot] = member
        this.everybody.push(member)
        return
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        this.#abandoned.add(attempt)
        if (error.code === 'NOT_FOUND') this.#sessions.delete(slot % sessionCount)
        parts.say(`  agent for slot ${slot} not started (${error.code}: ${error.message.split('\n', 1)[0]})`)
        if (tries >= startTriesMax) throw error
        await sleep(clock, retryGapMs, parts.signal)
      }
    }
  }

  #create(slot: number, attempt: string): Promise<TerminalBody> {
    const { client, parts } = this.#stage
    const { world, signal } = parts
    const request = {
      agent_profile: 'developer',
      provider: 'scripted',
      working_directory: world.projectDir,
      client_env: world.env,
      metadata: { chaos_attempt: attempt },
    }
    const how = { signal, timeoutMs: startLimitMs }
    const session = this.#sessions.get(slot % sessionCount)
    return session === undefined ? client.createSession(request, how) : client.createTerminal(session, request, how)
  }
}
