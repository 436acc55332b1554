/**
 * One HTTP request over the server's unix socket or over TCP, with a deadline and an abort signal. Faults of the
 * road become AppErrors here: nobody above sees ECONNREFUSED. No connection is kept alive: a client is
 * often a program that ends after one request, and a socket of a server that went away must not be reused.
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Clock } from '../async/clock.ts'
import { AppError } from '../domain/errors.ts'
import { fromErrorBody } from '../protocol/error-body.ts'
import { capabilityHeader } from '../protocol/version.ts'

/** Not by an import: the module's named exports load WebSocket and fetch with it, which doubles the start of a command. */
const { request: httpRequest } = process.getBuiltinModule('node:http')

export type Target =
  | { readonly socketPath: string }
  /** Without token: a server that runs with --no-auth. */
  | { readonly baseUrl: string; readonly token?: string | undefined }

export type Call = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** For the whole call; for a stream, until its headers. Units: ms. */
  readonly timeoutMs: number
  readonly isStream?: boolean
}

export type Transport = {
  /** The parsed body. Errors: SERVER_UNREACHABLE, TIMEOUT, what the server answered; the signal's reason on abort. */
  readonly call: (call: Call) => Promise<unknown>
  /** The answer as it comes. Owns: the caller destroys it. Errors: as `call`. */
  readonly open: (call: Call) => Promise<IncomingMessage>
}

/** Answers longer than this are a fault, not a result. Units: bytes. */
export const answerBytesMax = 64 * 1024 * 1024

export function createTransport(target: Target, capability: string | undefined, clock: Clock): Transport {
  const base = 'socketPath' in target ? undefined : new URL(target.baseUrl)
  const fixed: Record<string, string> = { accept: 'application/json' }
  if (capability !== undefined) fixed[capabilityHeader] = capability
  if ('baseUrl' in target && target.token !== undefined) fixed['authorization'] = `Bearer ${target.token}`

  const optionsOf = (call: Call, payload: string | undefined): RequestOptions => {
    const json = payload === undefined ? {} : { 'content-type': 'application/json' }
    const length = { 'content-length': String(Buffer.byteLength(payload ?? '')) }
    const headers = { ...fixed, ...json, ...(call.method === 'GET' ? {} : length), ...call.headers }
    const common = { method: call.method, path: formatPath(call), headers, agent: false } as const
    // No name for TLS: Node would otherwise find out whether the host is an address, which takes it milliseconds.
    const local = { ...common, servername: '' }
    if ('socketPath' in target) return { ...local, socketPath: target.socketPath }
    return { ...common, host: base?.hostname.replace(/^\[|\]$/g, ''), port: base?.port === '' ? 80 : base?.port }
  }

  const open = (call: Call): Promise<IncomingMessage> => {
    const payload = call.body === undefined ? undefined : JSON.stringify(call.body)
    return new Promise((resolve, reject) => {
      if (call.signal?.aborted) return reject(call.signal.reason as Error)
      const request = httpRequest(optionsOf(call, payload))
      const guarded = guard(request, call, { clock, target })
      request.on('error', (error) => {
        guarded.release()
        reject(roadFault(error, target))
      })
      request.on('response', (answer) => {
        guarded.watch(answer)
        resolve(answer)
      })
      request.end(payload)
    })
  }

  const call = async (asked: Call): Promise<unknown> => {
    const answer = await open(asked)
    const text = await readText(answer).catch((error: unknown) => {
      throw roadFault(error, target)
    })
    const status = answer.statusCode ?? 0
    const body = parseJson(text)
    if (status >= 200 && status < 300) return body
    throw fromErrorBody(status, body)
  }
  return { call, open }
}

/** Ends the call at its deadline or with its signal. Owns: release it when the answer is through. */
function guard(request: ClientRequest, call: Call, { clock, target }: { clock: Clock; target: Target }) {
  let answer: IncomingMessage | undefined
  const end = (reason: Error) => {
    // The answer first: it would otherwise only say that its connection was reset.
    answer?.destroy(reason)
    request.destroy(reason)
  }
  const onAbort = () => end(call.signal?.reason as Error)
  const late = `the server did not answer ${call.method} ${call.path} within ${call.timeoutMs} ms`
  const timer = clock.after(call.timeoutMs, () =>
    end(new AppError('TIMEOUT', late, { data: { where: formatTarget(target) } })),
  )
  call.signal?.addEventListener('abort', onAbort, { once: true })
  const release = () => {
    timer[Symbol.dispose]()
    call.signal?.removeEventListener('abort', onAbort)
  }
  const watch = (arrived: IncomingMessage) => {
    answer = arrived
    if (call.isStream === true) timer[Symbol.dispose]()
    arrived.once('close', release)
  }
  return { watch, release }
}

const formatTarget = (target: Target): string => ('socketPath' in target ? target.socketPath : target.baseUrl)

function formatPath(call: Call): string {
  const given = Object.entries(call.query ?? {}).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return query === '' ? call.path : `${call.path}?${query}`
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > answerBytesMax) {
      throw new AppError('TOO_LARGE', `the server's answer is longer than ${answerBytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return { detail: text.slice(0, 500) }
  }
}

const nobodyListens = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK', 'EACCES', 'EHOSTUNREACH', 'ENOTFOUND'])
const wentAway = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/** What a fault of the connection means. Aborts and our own faults pass as they are. */
export function roadFault(error: unknown, target: Target): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const where = formatTarget(target)
  const data = { where, cause: code, mayHaveArrived: wentAway.has(code) }
  if (code === 'EACCES') {
    return new AppError('SERVER_UNREACHABLE', `this user may not use the server's socket ${where}`, {
      data,
      cause: error,
    })
  }
  if (nobodyListens.has(code)) {
    const sentence = `no CAO server answers at ${where}: start one with "cao server start"`
    return new AppError('SERVER_UNREACHABLE', sentence, { data, cause: error })
  }
  if (wentAway.has(code)) {
    const sentence = `the CAO server at ${where} went away before it answered: see "cao server status"`
    return new AppError('SERVER_UNREACHABLE', sentence, { data, cause: error })
  }
  return error
}
