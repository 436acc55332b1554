/** Anthropic's Messages, streamed and whole, as much of it as agent CLIs use. */
import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../rules/rules.ts'
import { cleanUserText, type Item, type ModelRequest, type Tool } from './conversation.ts'
import type { Act } from './plan-answer.ts'
import {
  describeError,
  type Frames,
  isObject,
  objectsOf,
  stringOf,
  textOf,
  usage,
  type Wire,
  wholeText,
} from './wire.ts'

const makeId = (prefix: string) => `${prefix}${randomBytes(8).toString('hex')}`
const usageBody = { input_tokens: usage.input, output_tokens: usage.output }

/** What Claude Code puts into the conversation when a person stops a turn. */
const interruptedPattern = /^\[Request interrupted by user.*\]$/

function readTool(entry: JsonObject): Tool {
  const schema = entry['input_schema']
  return { name: stringOf(entry['name']), schema: isObject(schema) ? schema : {} }
}

/** One message holds several blocks: results of tools, reminders, and what was typed. Texts side by side are one. */
function readItems(message: JsonObject): readonly Item[] {
  if (message['role'] === 'assistant') return [{ kind: 'assistant' }]
  if (message['role'] !== 'user') return []
  const content = message['content']
  if (typeof content === 'string') return readText(content)
  const items: Item[] = []
  for (const block of objectsOf(content)) {
    if (block['type'] === 'tool_result') items.push({ kind: 'result', text: textOf(block['content']) })
    if (block['type'] === 'text') items.push(...readText(stringOf(block['text'])))
  }
  return items
}

function readText(text: string): readonly Item[] {
  const clean = cleanUserText(text).trim()
  if (clean === '') return []
  return [interruptedPattern.test(clean) ? { kind: 'interrupted' } : { kind: 'user', text }]
}

const event = (body: JsonObject & { readonly type: string }) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`

type BlockKind = 'text' | 'thinking'

class MessageFrames implements Frames {
  readonly #request: ModelRequest
  /** Of the open block; the next one has the next index. */
  #index = -1
  #open: BlockKind | undefined
  #hasCalls = false

  constructor(request: ModelRequest) {
    this.#request = request
  }

  begin(): string {
    const message = { ...messageHead(this.#request), content: [], stop_reason: null, usage: usageBody }
    return event({ type: 'message_start', message })
  }

  text(delta: string): string {
    const opened = this.#switchTo('text', { type: 'text', text: '' })
    return opened + this.#delta({ type: 'text_delta', text: delta })
  }

  reasoning(delta: string): string {
    const opened = this.#switchTo('thinking', { type: 'thinking', thinking: '', signature: '' })
    return opened + this.#delta({ type: 'thinking_delta', thinking: delta })
  }

  call(tool: string, args: JsonObject): string {
    this.#hasCalls = true
    const block = { type: 'tool_use', id: makeId('toolu_'), name: tool, input: {} }
    const opened = this.#close() + this.#start(block)
    return `${opened}${this.#delta({ type: 'input_json_delta', partial_json: JSON.stringify(args) })}${this.#stop()}`
  }

  end(): string {
    const delta = { stop_reason: this.#hasCalls ? 'tool_use' : 'end_turn', stop_sequence: null }
    return `${this.#close()}${event({ type: 'message_delta', delta, usage: usageBody })}${event({ type: 'message_stop' })}`
  }

  #switchTo(kind: BlockKind, block: JsonObject): string {
    if (this.#open === kind) return ''
    const closed = this.#close()
    this.#open = kind
    return closed + this.#start(block)
  }

  #start(block: JsonObject): string {
    this.#index++
    return event({ type: 'content_block_start', index: this.#index, content_block: block })
  }

  #delta(delta: JsonObject): string {
    return event({ type: 'content_block_delta', index: this.#index, delta })
  }

  #close(): string {
    if (this.#open === undefined) return ''
    const signed = this.#open === 'thinking' ? this.#delta({ type: 'signature_delta', signature: 'scripted' }) : ''
    this.#open = undefined
    return signed + this.#stop()
  }

  #stop(): string {
    return event({ type: 'content_block_stop', index: this.#index })
  }
}

const messageHead = (request: ModelRequest): JsonObject => ({
  id: makeId('msg_'),
  type: 'message',
  role: 'assistant',
  model: request.model,
  stop_sequence: null,
})

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

export const messagesWire: Wire = {
  path: /\/v1\/messages$/,
  read: (body) => ({
    model: stringOf(body['model']),
    isStreaming: body['stream'] === true,
    systemPrompt: textOf(body['system']),
    tools: objectsOf(body['tools']).map(readTool),
    items: objectsOf(body['messages']).flatMap(readItems),
  }),
  errorBody: (httpStatus, limit) => ({
    type: 'error',
    error: { type: errorTypes[httpStatus] ?? 'api_error', message: describeError(httpStatus, limit) },
  }),
  whole(request, acts: readonly Act[]) {
    const calls = acts.flatMap((act) =>
      act.kind === 'call' ? [{ type: 'tool_use', id: makeId('toolu_'), name: act.tool, input: act.args }] : [],
    )
    const text = wholeText(acts)
    return {
      ...messageHead(request),
      content: [...(text === '' ? [] : [{ type: 'text', text }]), ...calls],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: usageBody,
    }
  },
  open: (request) => new MessageFrames(request),
}
