/** Answers what agents ask, without faults of its own: each open question once it is seen, by its id, with the same word. */
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import type { Stage } from './stage.ts'
import { askedAnswer } from './traffic-plan.ts'

const lookGapMs = 400
const callLimitMs = 10_000

export class Answerer {
  readonly #stage: Stage
  /** Questions that CAO says to have answered for us. */
  answeredCount = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Until `signal` aborts. Errors: none of a CAO that is away, or of a question that has gone meanwhile. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#stage.clock, lookGapMs, signal).catch(() => undefined)
      if (!signal.aborted) await this.#answerAll(signal)
    }
  }

  async #answerAll(signal: AbortSignal): Promise<void> {
    const { client } = this.#stage
    const how = { signal, timeoutMs: callLimitMs }
    try {
      for (const { id, terminal_id } of await client.listQuestions(undefined, how)) {
        await client.answerQuestion(terminal_id, { answer: askedAnswer, question_id: id }, how)
        this.answeredCount++
      }
    } catch (error) {
      // The server is being killed, or the agent with its question: the next round sees what is left.
      if (!(error instanceof AppError) && !signal.aborted) throw error
    }
  }
}
