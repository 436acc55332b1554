/**
 * The scripted model server: an HTTP server on loopback that answers as `plan-answer.ts` says, over every wire it is
 * given. It stands in for a vendor's model in tests and in the demo; it needs no key and keeps nothing.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../async/clock.ts'
import { sleep } from '../../async/wait.ts'
import type { JsonObject } from '../rules/rules.ts'
import { chatWire } from './chat-wire.ts'
import type { ModelRequest } from './conversation.ts'
import { geminiWire } from './gemini-wire.ts'
import { messagesWire } from './messages-wire.ts'
import { type Act, type Answer, planAnswer } from './plan-answer.ts'
import { responsesWire } from './responses-wire.ts'
import { type Frames, isObject, usage, type Wire } from './wire.ts'

export type ScriptedModelOptions = {
  readonly clock: Clock
  /** 0: any free port. */
  readonly port: number
  /** Called for each model request before it is answered. */
  readonly onRequest?: (request: ModelRequest) => void
  /** Called before the end of an answer is sent, with what was said in it. A dropped or hanging one never ends. */
  readonly onAnswered?: (request: ModelRequest, answer: Answered) => void
}

export type Answered = {
  readonly httpStatus: number
  /** All text blocks. */
  readonly text: string
  /** Names of the tools that it calls. */
  readonly calls: readonly string[]
}

/** Owns: the listening socket and every connection. */
export interface ScriptedModel extends AsyncDisposable {
  readonly port: number
}

const wires: readonly Wire[] = [chatWire, geminiWire, messagesWire, responsesWire]
const bodyBytesMax = 64 * 1024 * 1024
const chunkChars = 24
const modelList = { object: 'list', data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'scripted' }] }

/** Listens on 127.0.0.1. Errors: the system's, when the port is taken. */
export async function openScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const closing = new AbortController()
  const server = createServer((request, response) => {
    serve(request, response, { ...options, signal: closing.signal }).catch(() => response.destroy())
  })
  await listen(server, options.port)
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('scripted model closed'))
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
}

type Serving = ScriptedModelOptions & { readonly signal: AbortSignal }

async function serve(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname
  const body = await readBody(request)
  const wire = wires.find((one) => one.path.test(path))
  if (wire === undefined) {
    if (path.endsWith('/models')) return sendJson(response, 200, modelList)
    if (path.endsWith('/count_tokens')) return sendJson(response, 200, { input_tokens: usage.input })
    if (path.endsWith(':countTokens')) return sendJson(response, 200, { totalTokens: usage.input })
    return sendJson(response, 404, { error: { message: `nothing is scripted at ${path}` } })
  }
  if (!isObject(body)) return sendJson(response, 400, wire.errorBody(400))
  const asked = wire.read(body, path)
  serving.onRequest?.(asked)
  const answer = planAnswer(asked)
  const noteEnd = () => serving.onAnswered?.(asked, describeAnswer(answer))
  if (answer.kind === 'error' || (!asked.isStreaming && !answer.acts.some(isBreak))) noteEnd()
  if (answer.kind === 'error') return sendError(response, wire, answer, serving.clock.nowMs())
  if (!asked.isStreaming) return sendWhole(response, wire.whole(asked, answer.acts), answer.acts)
  await stream(response, answer.acts, wire.open(asked), { ...serving, noteEnd })
}

function describeAnswer(answer: Answer): Answered {
  if (answer.kind === 'error') return { httpStatus: answer.httpStatus, text: '', calls: [] }
  const text = answer.acts.flatMap((act) => (act.kind === 'text' ? [act.text] : [])).join('')
  return { httpStatus: 200, text, calls: answer.acts.flatMap((act) => (act.kind === 'call' ? [act.tool] : [])) }
}

/** The JSON of a body; undefined when it is none or too large. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  }
  if (bytes > bodyBytesMax) return undefined
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function sendJson(response: ServerResponse, httpStatus: number, body: JsonObject): void {
  response.writeHead(httpStatus, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

type Failure = Extract<Answer, { kind: 'error' }>

/** With a limit, also that trying again is of no use before it ends. */
function sendError(response: ServerResponse, wire: Wire, { httpStatus, limitS }: Failure, nowMs: number): void {
  if (limitS === undefined) return sendJson(response, httpStatus, wire.errorBody(httpStatus))
  response.setHeader('retry-after', limitS)
  response.setHeader('x-should-retry', 'false')
  const limit = { seconds: limitS, untilMs: nowMs + limitS * 1_000 }
  sendJson(response, httpStatus, wire.errorBody(httpStatus, limit))
}

const isBreak = ({ kind }: Act): boolean => kind === 'drop' || kind === 'hang'

function sendWhole(response: ServerResponse, body: JsonObject, acts: readonly Act[]): void {
  const broken = acts.find(isBreak)
  if (broken === undefined) return sendJson(response, 200, body)
  if (broken.kind === 'drop') response.destroy()
}

async function stream(
  response: ServerResponse,
  acts: readonly Act[],
  frames: Frames,
  { clock, signal, noteEnd }: Serving & { readonly noteEnd: () => void },
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(frames.begin())
  for (const act of acts) {
    if (response.destroyed) return
    switch (act.kind) {
      case 'text':
        for (const piece of piecesOf(act.text)) response.write(frames.text(piece))
        break
      case 'reasoning':
        response.write(frames.reasoning(act.text))
        break
      case 'call':
        response.write(frames.call(act.tool, act.args))
        break
      case 'pause':
        await sleep(clock, act.ms, signal)
        break
      // A comment frame that was handed to the system first: what was said before must arrive.
      case 'drop':
        await new Promise<void>((resolve) => response.write(': cut\n\n', () => resolve()))
        response.destroy()
        return
      // Left open until the client goes or the server closes.
      case 'hang':
        return
    }
  }
  noteEnd()
  response.end(frames.end())
}

function piecesOf(text: string): readonly string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${chunkChars}}`, 'gu')) ?? []
}
