/**
 * What a message makes the agent do: its own rules, else the playbook's, else a friendly echo. `collect N` ends the turn
 * (an agent must rest to be given messages) and keeps the rules after it until N messages have come.
 */
import type { Remembered } from '../rules/fill-in.ts'
import { bodiesOf, bodyOf, echoOf } from '../rules/message.ts'
import { parseNumber, parseRules, type Step } from '../rules/rules.ts'

/** What the turns of one conversation know of each other. */
export class Memory implements Remembered {
  /** The person said not to ask again. */
  isToolAllowed = false
  results: string[] = []
  messages: string[] = []
}

type Collecting = { readonly needed: number; readonly messages: string[]; readonly rest: readonly Step[] }

export class Planner {
  readonly memory = new Memory()
  readonly #playbook: readonly Step[]
  #collecting: Collecting | undefined

  constructor(playbook: string) {
    this.#playbook = parseRules(playbook)
  }

  /** The steps that `message` asks for, given those before it. */
  plan(message: string): readonly Step[] {
    const collecting = this.#collecting
    return collecting === undefined ? this.#begin(bodyOf(message)) : this.#collect(collecting, bodiesOf(message))
  }

  /** An interrupted agent forgets what it was waiting for. */
  forget(): void {
    this.#collecting = undefined
  }

  #begin(body: string): readonly Step[] {
    this.memory.results = []
    this.memory.messages = []
    const own = parseRules(body)
    const steps = own.length > 0 ? own : this.#playbook
    return steps.length === 0 ? echoOf(body) : this.#cutAtCollect(steps)
  }

  #collect(collecting: Collecting, bodies: readonly string[]): readonly Step[] {
    const { needed, messages, rest } = collecting
    messages.push(...bodies)
    if (messages.length < needed) return [{ verb: 'say', rest: `${messages.length} of ${needed} messages are here.` }]
    this.#collecting = undefined
    this.memory.messages = messages
    return this.#cutAtCollect(rest)
  }

  #cutAtCollect(steps: readonly Step[]): readonly Step[] {
    const at = steps.findIndex((step) => step.verb === 'collect')
    const step = steps[at]
    if (step === undefined) return steps
    const needed = Math.max(parseNumber(step.rest, 1), 1)
    this.#collecting = { needed, messages: [], rest: steps.slice(at + 1) }
    return [...steps.slice(0, at), { verb: 'say', rest: `Waiting for ${needed} messages.` }]
  }
}
