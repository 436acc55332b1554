/**
 * Who sends what to whom, and when: a pure function of the seed. Every text carries a marker in its first line, by which
 * the checker knows it again in the agents' own records.
 */
import { Random } from './random.ts'

export const stepKinds = ['message', 'relay', 'assign', 'handoff'] as const
export type StepKind = (typeof stepKinds)[number]

export type TrafficStep = {
  readonly atMs: number
  readonly kind: StepKind
  /** The agent that gets the message; with `relay` and jobs it acts on it. */
  readonly slot: number
  /** With `relay`: whom it writes to by itself, one message each. */
  readonly to: readonly number[]
  /** Lines of ballast. */
  readonly lines: number
  /** Who works on it asks a question before it answers. */
  readonly asks: boolean
}

const stepGapMs = { least: 300, most: 1_100 }
const relayTargetsMax = 3
/** Agents write only to those of their own session; slots are dealt to the sessions in turn. */
export const sessionCount = 2
const linesMax = 40
/** How many of the jobs, and of the plain messages, ask. */
const askingJobs = 0.5
const askingMessages = 0.12

export type TrafficPlanOptions = { readonly seed: number; readonly durationMs: number; readonly agents: number }

export function planTraffic({ seed, durationMs, agents }: TrafficPlanOptions): readonly TrafficStep[] {
  // Another sequence than that of the faults, which stay the same when the traffic changes.
  const random = new Random(seed ^ 0x5eed)
  // A third one: who sends what to whom stays the same.
  const doubts = new Random(seed ^ 0xa5c)
  const steps: TrafficStep[] = []
  for (let atMs = 0; atMs < durationMs; atMs += random.whole(stepGapMs.least, stepGapMs.most)) {
    const slot = random.whole(0, agents - 1)
    const chance = random.next()
    const kind: StepKind = chance < 0.4 ? 'message' : chance < 0.95 ? 'relay' : chance < 0.975 ? 'assign' : 'handoff'
    const others = Array.from({ length: agents }, (_, other) => other).filter(
      (other) => other !== slot && other % sessionCount === slot % sessionCount,
    )
    const to = kind === 'relay' ? random.shuffle(others).slice(0, random.whole(1, relayTargetsMax)) : []
    const lines = random.next() < 0.15 ? random.whole(1, linesMax) : 0
    const share = kind === 'message' ? askingMessages : kind === 'relay' ? 0 : askingJobs
    steps.push({ atMs, kind, slot, to, lines, asks: doubts.next() < share })
  }
  return steps
}

export const markerOf = (seed: number, count: number): string => `chaos-${seed}-${String(count).padStart(5, '0')}`

/** A message that only has to arrive. */
export function plainText(marker: string, lines: number): string {
  return [marker, ...ballast(lines)].join('\n')
}

/** What agents ask, and the one answer that is right; the marker tells whose question it is. */
export const askedAnswer = 'yes'
const askRule = (marker: string): string => `ask ${marker}: go on? | no | ${askedAnswer} | later`

/** A message whose receiver asks before it answers with what it heard. */
export const askingText = (marker: string): string =>
  [marker, askRule(marker), `reply ${heardOf(marker)} {result}`].join('\n')
export const heardOf = (marker: string): string => `${marker} heard`

/** A message that makes its receiver write to others by itself. */
export function relayText(
  marker: string,
  sends: readonly { readonly receiverId: string; readonly marker: string }[],
): string {
  const calls = sends.map(
    (send) => `call send_message ${JSON.stringify({ receiver_id: send.receiverId, message: send.marker })}`,
  )
  return [marker, ...calls, `reply sent ${sends.length}`].join('\n')
}

/** A message that makes its receiver give away a task whose answer is known. */
export function jobText(marker: string, tool: 'assign' | 'handoff', job: string, asks = false): string {
  const doubt = asks ? `${askRule(job)}\n` : ''
  const message = `${job}\nwait 300\n${doubt}reply ${answerOf(job)}`
  return [marker, `call ${tool} ${JSON.stringify({ agent_profile: 'developer', message })}`, 'reply asked'].join('\n')
}

export const answerOf = (job: string): string => `the answer to ${job}`

function ballast(lines: number): readonly string[] {
  return Array.from({ length: lines }, (_, line) => `· line ${line + 1}: "quoted", $HOME, #{pane_id}, 漢字, äöü, 🙂 …`)
}
