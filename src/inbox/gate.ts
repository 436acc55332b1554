/** When a message may be typed, by what the agent is doing. Pure; the one place to change that rule. */
import { findResetTime } from '../domain/reset-time.ts'
import type { StatusState } from '../domain/status-reducer.ts'
import type { Gate } from './receiver.ts'

const open: Gate = { kind: 'open' }
const held = (why: string): Gate => ({ kind: 'held', why })

/** After a rate limit whose end the CLI does not tell, the next message tries again. Units: ms. */
export const rateLimitHoldMs = 60_000

type Held = { readonly by: string; readonly why: string }
type GateState = Pick<StatusState, 'status' | 'reason' | 'detail' | 'sinceMs'>

/** `hold`: a person has stopped this queue. */
export function decideGate(state: GateState, nowMs: number, hold?: Held): Gate {
  const gate = decideByState(state, nowMs)
  if (gate.kind !== 'open' || hold === undefined) return gate
  return held(`the queue is held by ${hold.by} (${hold.why}): \`cao release\` lets it go on`)
}

function decideByState(state: GateState, nowMs: number): Gate {
  switch (state.status) {
    case 'idle':
    case 'completed':
      return state.reason === 'exited' ? { kind: 'ended', why: 'the agent has exited' } : open
    case 'processing':
      return held(`the agent is at work (${state.reason})`)
    case 'waiting_user_answer':
      return held(`the agent waits for an answer: ${state.detail ?? state.reason}`)
    case 'unknown':
      return held(`the agent's state is not known (${state.reason})`)
    case 'error':
      if (state.reason === 'exited' || state.reason === 'lost') {
        return { kind: 'ended', why: state.detail ?? `the agent is gone (${state.reason})` }
      }
      // After an API error the composer is free again: the next message may well succeed. A rate limit takes its time.
      return state.reason === 'rate_limited' ? decideLimited(state, nowMs) : open
  }
}

function decideLimited({ detail = '', sinceMs }: Pick<StatusState, 'detail' | 'sinceMs'>, nowMs: number): Gate {
  const resetsAtMs = findResetTime(detail, sinceMs)
  if (nowMs >= (resetsAtMs ?? sinceMs + rateLimitHoldMs)) return open
  const when = resetsAtMs === undefined ? `${rateLimitHoldMs / 1_000} s after it` : new Date(resetsAtMs).toISOString()
  return held(`rate limited (${detail}): tried again ${resetsAtMs === undefined ? '' : 'at '}${when}`)
}
