/**
 * Two records of one agent, to be held against each other: what the model server knows (when it was asked, when its answer was out, what
 * was in it) and what CAO said (every change of status, and every piece of evidence with its source).
 */
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import { type Answered, openScriptedModel, type ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import type { Client } from '../../src/client/client.ts'

export type ModelFact =
  | { readonly kind: 'asked'; readonly atMs: number; readonly request: ModelRequest }
  | { readonly kind: 'answered'; readonly atMs: number; readonly answer: Answered }

export type StatusChange = {
  readonly atMs: number
  readonly to: string
  readonly reason: string
  readonly because: string
}

/** Milliseconds by `source what`, such as `hook end`. */
export type Delays = Map<string, number[]>

const factsShownMax = 12
const factLengthMax = 200

/** Owns: the model server. */
export class Witness implements AsyncDisposable {
  /** Requests of the agent itself; those without tools are the program's own (titles). */
  readonly facts: readonly ModelFact[]
  readonly delays: Delays = new Map()
  readonly #model: ScriptedModel

  private constructor(model: ScriptedModel, facts: readonly ModelFact[]) {
    this.#model = model
    this.facts = facts
  }

  static async open(): Promise<Witness> {
    const facts: ModelFact[] = []
    const isOfAgent = (request: ModelRequest) => request.tools.length > 0
    const atMs = () => Date.now()
    const model = await openScriptedModel({
      clock: systemClock,
      port: 0,
      onRequest: (request) => {
        if (isOfAgent(request)) facts.push({ kind: 'asked', atMs: atMs(), request })
      },
      onAnswered: (request, answer) => {
        if (isOfAgent(request)) facts.push({ kind: 'answered', atMs: atMs(), answer })
      },
    })
    return new Witness(model, facts)
  }

  get port(): number {
    return this.#model.port
  }

  /** When the last answer since `from` (an index of `facts`) was out; undefined: none was. */
  lastAnswered(from: number): Extract<ModelFact, { kind: 'answered' }> | undefined {
    return this.facts.slice(from).findLast((fact) => fact.kind === 'answered')
  }

  /** The last answer that holds a text. */
  lastSaid(): Answered | undefined {
    return this.facts
      .flatMap((fact) => (fact.kind === 'answered' && fact.answer.text !== '' ? [fact.answer] : []))
      .at(-1)
  }

  /** The newest facts, a line each that begins with its time. */
  describeFacts(): readonly string[] {
    return this.facts.slice(-factsShownMax).map((fact) => {
      const at = new Date(fact.atMs).toISOString()
      if (fact.kind === 'answered') return `${at} model answered ${JSON.stringify(fact.answer).slice(0, factLengthMax)}`
      const { items, tools } = fact.request
      const last = JSON.stringify(items.at(-1) ?? '')
      return `${at} model asked with ${tools.length} tools, ${items.length} items, the last ${last.slice(0, factLengthMax)}`
    })
  }

  /** What was said of the terminal after event `seq`. */
  async listChanges(client: Client, terminalId: string, afterSeq: number): Promise<readonly StatusChange[]> {
    const { events } = await client.listEvents({ after: afterSeq, limit: 500 })
    return events.flatMap((event) =>
      event.type === 'terminal.status_changed' && event.terminal_id === terminalId
        ? [{ atMs: Date.parse(event.at), to: event.to, reason: event.reason, because: event.because ?? '' }]
        : [],
    )
  }

  /** Notes how long after the model each source told of it. `what`: the claims that tell, and their name in the table. */
  async noteDelays(client: Client, terminalId: string, sinceMs: number, what: 'end' | 'question'): Promise<void> {
    const tells = what === 'end' ? ['turn_ended', 'ready'] : ['waiting']
    const { trail } = await client.explain(terminalId)
    const seen = new Set<string>()
    for (const { at, source, claim } of trail) {
      const delayMs = Date.parse(at) - sinceMs
      if (delayMs < 0 || seen.has(source) || !tells.some((word) => claim.startsWith(word))) continue
      seen.add(source)
      const key = `${source} ${what}`
      this.delays.set(key, [...(this.delays.get(key) ?? []), delayMs])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#model[Symbol.asyncDispose]()
  }
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN)
}

/** The statuses in order, each once where it stands several times in a row. */
export const pathOf = (changes: readonly StatusChange[]): readonly string[] =>
  changes.map(({ to }) => to).filter((to, at, all) => to !== all[at - 1])
