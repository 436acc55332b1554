/**
 * A turn as a record of a conversation tells it, whichever program keeps the record. A message of the model looks the same whether it
 * ends the turn or a tool follows: what stands there when the program rests is how it ended. Pure.
 */
import type { TurnCost } from '../provider.ts'

export type ChatRecord = { readonly atMs: number } & (
  | { readonly kind: 'prompt'; readonly text: string }
  /** A message of the model. `hasCalls`: tools were called and are done; where they are not, nothing tells of them yet. */
  | {
      readonly kind: 'said'
      readonly id: string
      readonly text: string
      readonly hasCalls: boolean
      readonly input: number
      readonly output: number
    }
  /** The results of tools went to the model. */
  | { readonly kind: 'results' }
  /** A request failed; it may be tried again. */
  | { readonly kind: 'error'; readonly text: string }
  /** Somebody broke the turn off. */
  | { readonly kind: 'cancelled' }
)

/** The limit of the person's plan, or the vendor's request to slow down; told apart from every other fault. */
export const isRateLimit = (detail: string): boolean => /\b429\b|quota|rate limit|RESOURCE_EXHAUSTED/i.test(detail)

/** A turn as far as its record goes. */
export type Turn = {
  /** What was said since the last step, by message. */
  readonly said: readonly { readonly id: string; readonly text: string }[]
  /** The last message may be the answer: no call of a tool is known in it. */
  readonly hasAnswer: boolean
  /** The last request that failed. */
  readonly error: { readonly text: string; readonly atMs: number } | undefined
  readonly isCancelled: boolean
  readonly beganMs: number
  readonly lastMs: number
  readonly tokens: ReadonlyMap<string, { readonly input: number; readonly output: number }>
}

export function beginTurn(atMs: number): Turn {
  return {
    said: [],
    hasAnswer: false,
    error: undefined,
    isCancelled: false,
    beganMs: atMs,
    lastMs: atMs,
    tokens: new Map(),
  }
}

export function stepTurn(before: Turn, record: ChatRecord): Turn {
  const turn = { ...before, lastMs: record.atMs }
  switch (record.kind) {
    case 'prompt':
      return beginTurn(record.atMs)
    case 'said': {
      const { id, text, input, output } = record
      const tokens = new Map([...turn.tokens, [id, { input, output }]])
      // With calls it was a step on the way: what was said before is not the answer.
      if (record.hasCalls) return { ...turn, said: [], hasAnswer: false, error: undefined, tokens }
      const said = [...turn.said.filter((one) => one.id !== id), { id, text }]
      return { ...turn, said, hasAnswer: true, error: undefined, isCancelled: false, tokens }
    }
    case 'results':
      return { ...turn, said: [], hasAnswer: false }
    case 'error':
      return { ...turn, error: { text: record.text, atMs: record.atMs } }
    case 'cancelled':
      return { ...turn, isCancelled: true }
  }
}

export type TurnEnd =
  | { readonly outcome: 'answered'; readonly text: string; readonly cost: TurnCost }
  | { readonly outcome: 'failed'; readonly error: string }
  | { readonly outcome: 'interrupted' }

/** Giving up follows a failed request at once; who breaks off the wait for another try comes later. Units: ms. */
const givesUpWithinMs = 2_000

/** How the turn ended that rests since `restMs`; undefined when its record does not tell. */
export function readEnd(turn: Turn, restMs: number): TurnEnd | undefined {
  if (turn.isCancelled) return { outcome: 'interrupted' }
  if (turn.error !== undefined) {
    const isFinal = restMs - turn.error.atMs < givesUpWithinMs
    return isFinal ? { outcome: 'failed', error: turn.error.text } : { outcome: 'interrupted' }
  }
  if (!turn.hasAnswer) return undefined
  const text = turn.said
    .map((one) => one.text)
    .filter((one) => one !== '')
    .join('\n\n')
  const spent = [...turn.tokens.values()]
  const sum = (pick: (one: { readonly input: number; readonly output: number }) => number) =>
    spent.reduce((total, one) => total + pick(one), 0)
  return {
    outcome: 'answered',
    text,
    cost: {
      durationMs: turn.lastMs - turn.beganMs,
      inputTokens: sum(({ input }) => input),
      outputTokens: sum(({ output }) => output),
    },
  }
}

/** The turns of a record in order. */
export function listTurns(records: readonly ChatRecord[]): readonly Turn[] {
  const turns: Turn[] = []
  for (const record of records) {
    const last = record.kind === 'prompt' ? undefined : turns.pop()
    if (record.kind === 'prompt') turns.push(beginTurn(record.atMs))
    else if (last !== undefined) turns.push(stepTurn(last, record))
  }
  return turns
}
