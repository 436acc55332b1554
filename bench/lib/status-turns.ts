/**
 * Turns of many agents at once, and how late each change of status was told: the agent's own record says when something
 * happened, a reader of the event stream when it was told.
 */
import { readFileSync } from 'node:fs'
import { systemClock } from '../../src/async/clock-system.ts'
import { sleep } from '../../src/async/wait.ts'
import type { Client } from '../../src/client/client.ts'
import { AppError } from '../../src/domain/errors.ts'

export type StatusAgent = {
  readonly id: string
  /** Its own record. */
  readonly transcript: string
  readonly by: 'hook' | 'screen'
  /**
   * Gives it a message. Whoever has no hooks is given it past CAO, as by a person's hands: a delivery would wait long for the proof
   * that only a hook brings.
   */
  readonly tell: (message: string) => Promise<unknown>
}

type Told = { readonly to: string; readonly atMs: number; readonly source: string }
type Kind = 'working' | 'waiting' | 'finished'
export const kinds = ['working', 'waiting', 'finished'] as const satisfies readonly Kind[]

export type Delay = { readonly by: StatusAgent['by']; readonly kind: Kind; readonly ms: number }
export type TurnsOutcome = {
  readonly delays: readonly Delay[]
  readonly turns: number
  /** What was told and did not happen, or happened and was not told. */
  readonly faults: readonly string[]
}

const stepLimitMs = 60_000
const pollMs = 5
const recordTypes = { working: 'user', waiting: 'question', finished: 'assistant' } as const
const statusOf = { working: 'processing', waiting: 'waiting_user_answer', finished: 'completed' } as const

/** Keeps what the stream tells of each agent, from `open` to disposal. */
export class StatusReader implements Disposable {
  readonly #told = new Map<string, Told[]>()
  readonly #controller = new AbortController()
  readonly #client: Client
  #ended: Promise<void> | undefined

  constructor(client: Client) {
    this.#client = client
  }

  async open(): Promise<void> {
    const { last_seq } = await this.#client.listEvents({ limit: 1 })
    this.#ended = this.#read(last_seq)
  }

  async #read(after: number): Promise<void> {
    for await (const frame of this.#client.streamEvents({ after, signal: this.#controller.signal })) {
      if (frame.kind === 'gap') throw new Error('the stream of events has a gap')
      if (frame.kind !== 'event' || frame.event.type !== 'terminal.status_changed') continue
      const { terminal_id, to, because } = frame.event
      const source = (because ?? '').split(':', 1)[0] ?? ''
      this.list(terminal_id).push({ to, atMs: Date.now(), source })
    }
  }

  list(id: string): Told[] {
    const list = this.#told.get(id) ?? []
    this.#told.set(id, list)
    return list
  }

  /** Resolves when the agent was said to be `to`, at the index `from` of its list or later. Errors: it was not, in a minute. */
  async await(id: string, to: string, from: number): Promise<void> {
    const endMs = performance.now() + stepLimitMs
    while (!this.list(id).some((told, at) => at >= from && told.to === to)) {
      if (performance.now() > endMs)
        throw new Error(`${id} was never said to be ${to}: ${JSON.stringify(this.list(id))}`)
      await sleep(systemClock, pollMs)
    }
  }

  [Symbol.dispose](): void {
    this.#controller.abort()
    void this.#ended?.catch(() => undefined)
  }
}

export type TurnsOptions = {
  readonly client: Client
  readonly agents: readonly StatusAgent[]
  /** Each agent takes turns until this says no. */
  readonly isOver: () => boolean
  /** How long a turn works before it asks or answers, evenly spread. Units: ms. */
  readonly workMs: readonly [number, number]
}

/** Every second turn of an agent asks its person. Errors: a status that never came; those of the server. */
export async function runTurns(options: TurnsOptions): Promise<TurnsOutcome> {
  const { client, agents } = options
  using reader = new StatusReader(client)
  await reader.open()
  const before = new Map(agents.map((agent) => [agent.id, readRecord(agent).length]))
  await Promise.all(agents.map((agent, index) => takeTurns(agent, index, { ...options, reader })))
  const outcomes = agents.map((agent) => {
    const record = readRecord(agent).slice(before.get(agent.id))
    return compare(agent, record, reader.list(agent.id))
  })
  return {
    delays: outcomes.flatMap(({ delays }) => delays),
    turns: outcomes.reduce((sum, { turns }) => sum + turns, 0),
    faults: outcomes.flatMap(({ faults }) => faults),
  }
}

async function takeTurns(
  { id, tell }: StatusAgent,
  index: number,
  { client, isOver, workMs: [least, most], reader }: TurnsOptions & { readonly reader: StatusReader },
): Promise<void> {
  // Not all at once.
  await sleep(systemClock, Math.random() * most)
  for (let turn = index; !isOver(); turn++) {
    const from = reader.list(id).length
    const asks = turn % 2 === 1
    const wait = Math.round(least + Math.random() * (most - least))
    const lines = [`wait ${wait}`, ...(asks ? ['ask Go on? | Yes | No', `wait ${wait}`] : []), 'reply done']
    await tell(lines.join('\n'))
    if (asks) {
      await reader.await(id, 'waiting_user_answer', from)
      await answer(client, id)
    }
    await reader.await(id, 'completed', from)
  }
}

/** A hook may tell of a question before it is painted, and then nothing can be answered yet. */
async function answer(client: Client, id: string): Promise<void> {
  const endMs = performance.now() + stepLimitMs
  for (;;) {
    try {
      await client.answerQuestion(id, { answer: '1' })
      return
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'BAD_REQUEST') || performance.now() > endMs) throw error
      await sleep(systemClock, 50)
    }
  }
}

type RecordLine = { readonly type: string; readonly at: number }

function readRecord({ transcript }: StatusAgent): readonly RecordLine[] {
  const lines = readFileSync(transcript, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as RecordLine)
}

function compare(agent: StatusAgent, record: readonly RecordLine[], told: readonly Told[]) {
  const faults: string[] = []
  const delays = kinds.flatMap((kind) => {
    const happened = record.filter(({ type }) => type === recordTypes[kind])
    // Work goes on after an answered question, too; what counts is where it begins.
    const heard = told.filter(
      ({ to }, at) => to === statusOf[kind] && !(kind === 'working' && told[at - 1]?.to === 'waiting_user_answer'),
    )
    if (heard.length !== happened.length)
      faults.push(`${agent.id} (${agent.by}): ${kind} ${happened.length} times, told ${heard.length} times`)
    for (const { source } of heard) {
      // With hooks a screen may be the first to tell; without them it is alone.
      if (agent.by === 'screen' && source !== 'screen')
        faults.push(`${agent.id}: ${kind} was told by ${source}, where nothing but the screen can tell`)
    }
    return happened.flatMap(({ at }, index) => {
      const event = heard[index]
      return event === undefined ? [] : [{ by: agent.by, kind, ms: event.atMs - at }]
    })
  })
  return { delays, faults, turns: record.filter(({ type }) => type === 'user').length }
}
