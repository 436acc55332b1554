/** One wire format of model requests and answers. The server knows none of them; it only streams frames. */
import type { JsonObject } from '../rules/rules.ts'
import type { ModelRequest } from './conversation.ts'
import type { Act } from './plan-answer.ts'

export type Limit = { readonly seconds: number; readonly untilMs: number }

/** What a vendor says in any wire. */
export const describeError = (httpStatus: number, limit?: Limit): string =>
  `scripted error ${httpStatus}${limit === undefined ? '' : `: try again in ${limit.seconds}s`}`

export interface Wire {
  readonly path: RegExp
  /** Reads a request body that was JSON, and what stands in its path. Missing fields are read as empty. */
  read(body: JsonObject, path: string): ModelRequest
  /** `limit`: why it says no is over then. */
  errorBody(httpStatus: number, limit?: Limit): JsonObject
  /** The whole answer for a request that does not stream. */
  whole(request: ModelRequest, acts: readonly Act[]): JsonObject
  /** Frames of one streamed answer. */
  open(request: ModelRequest): Frames
}

/** Each function gives what to send, as server-sent event text. Called in the order begin, (act…), end. */
export interface Frames {
  begin(): string
  text(delta: string): string
  reasoning(delta: string): string
  call(tool: string, args: JsonObject): string
  end(): string
}

/** Rough counts: what a wire wants is a number, not a truth. */
export const usage = { input: 120, output: 20 }

/** The text of a message part list, or of a plain string. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const objectsOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** All text of an answer that does not stream. */
export function wholeText(acts: readonly Act[]): string {
  return acts.map((act) => (act.kind === 'text' ? act.text : '')).join('')
}
