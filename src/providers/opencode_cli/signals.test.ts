import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import { type MessageToken, trustId } from '../../domain/ids.ts'
import { silentLog } from '../../lib/log.ts'
import type { Signal } from '../provider.ts'
import { OpencodeSignals } from './signals.ts'

const password = 'secret'
const authorization = `Basic ${Buffer.from(`cao:${password}`).toString('base64')}`
const waiting = (limitMs = 5_000) => ({ signal: AbortSignal.timeout(limitMs) })

/** As much of opencode's server as the channels use. */
class Vendor {
  readonly requests: string[] = []
  readonly shown: string[] = []
  sessions: Record<string, unknown>[] = []
  messages: unknown[] = []
  status: Record<string, unknown> = {}
  permissions: unknown[] = []
  readonly #streams = new Set<ServerResponse>()
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response))

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  send(type: string, properties: object): void {
    for (const stream of this.#streams) writeEvent(stream, type, properties)
  }

  breakStreams(): void {
    for (const stream of this.#streams) stream.destroy()
  }

  get streams(): number {
    return this.#streams.size
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    this.requests.push(`${request.method} ${path}`)
    let text = ''
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString()
    if (request.headers.authorization !== authorization) return void response.writeHead(401).end()
    if (path === '/event') return this.#stream(response)
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(this.#answer(`${request.method} ${path}`, body)))
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    this.#streams.add(response)
    response.once('close', () => this.#streams.delete(response))
    writeEvent(response, 'server.connected', {})
  }

  #answer(what: string, body: Record<string, unknown>): unknown {
    if (what === 'GET /session/status') return this.status
    if (what === 'GET /permission') return this.permissions
    if (what === 'GET /question') return []
    if (what === 'GET /session') return this.sessions
    if (what.endsWith('/children')) return []
    if (what.endsWith('/message')) return this.messages
    if (what === 'POST /session') {
      const session = { id: `ses_${this.sessions.length + 1}`, ...body }
      this.sessions.push(session)
      return session
    }
    if (what === 'POST /tui/select-session') this.shown.push(String(body['sessionID']))
    return true
  }
}

function writeEvent(stream: ServerResponse, type: string, properties: object): void {
  stream.write(`data: ${JSON.stringify({ id: 'evt_1', type, properties })}\n\n`)
}

const assistant = (finish: string | undefined, text: string, error?: object) => ({
  info: {
    id: 'msg_a',
    sessionID: 'ses_1',
    role: 'assistant',
    time: { created: 1, completed: 2 },
    ...(finish === undefined ? {} : { finish }),
    ...(error === undefined ? {} : { error }),
  },
  parts: [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text },
  ],
})
const user = (text: string) => ({
  info: { id: 'msg_u', sessionID: 'ses_1', role: 'user' },
  parts: [
    { type: 'text', text },
    { type: 'text', text: 'put in by the program', synthetic: true },
  ],
})

describe('the channels of opencode', () => {
  let vendor: Vendor
  let port: number
  let folder: string
  let heard: Signal[]
  let opened: OpencodeSignals[]

  beforeEach(async () => {
    vendor = new Vendor()
    port = await vendor.listen()
    folder = mkdtempSync(join(tmpdir(), 'cao-opencode-signals-'))
    writeFileSync(join(folder, 'password'), password)
    heard = []
    opened = []
  })
  afterEach(async () => {
    for (const signals of opened) await signals[Symbol.asyncDispose]()
    await vendor.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = (vendorSessionId: string | null): OpencodeSignals => {
    const signals = new OpencodeSignals({
      terminalId: trustId('1a2b3c4d'),
      cwd: folder,
      privateDir: folder,
      binding: { port, passwordFile: join(folder, 'password'), vendorSessionId },
      clock: systemClock,
      log: silentLog,
      emit: (signal) => heard.push(signal),
    })
    opened.push(signals)
    return signals
  }
  const until = (test: () => boolean) => expect.poll(test, { timeout: 5_000, interval: 10 }).toBe(true)
  const claims = () => heard.flatMap((signal) => (signal.kind === 'claim' ? [signal.claim] : []))
  const setStatus = (type: 'busy' | 'idle') => {
    vendor.status = type === 'busy' ? { ses_1: { type } } : {}
    vendor.send('session.status', { sessionID: 'ses_1', status: { type } })
  }

  it('make a session for a new agent, bind to it, and have it shown until somebody works there', async () => {
    open(null)
    await until(() => vendor.shown.length >= 2)
    expect(vendor.sessions).toEqual([{ id: 'ses_1', metadata: { caoTerminal: '1a2b3c4d' } }])
    const binding = { port, passwordFile: join(folder, 'password'), vendorSessionId: 'ses_1' }
    expect(heard).toEqual([{ kind: 'bound', binding }])
    vendor.send('message.updated', { sessionID: 'ses_1', info: { id: 'msg_u', sessionID: 'ses_1', role: 'user' } })
    const part = { type: 'text', text: 'hello', id: 'prt_1', messageID: 'msg_u', sessionID: 'ses_1' }
    vendor.send('message.part.updated', { sessionID: 'ses_1', part })
    await until(() => heard.length === 2)
    const before = vendor.shown.length
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(vendor.shown.length).toBeLessThanOrEqual(before + 1)
  })

  it('find the session that was made before a crash, instead of making a second', async () => {
    vendor.sessions = [{ id: 'ses_other' }, { id: 'ses_1', metadata: { caoTerminal: '1a2b3c4d' } }]
    open(null)
    await until(() => heard.length > 0)
    expect(heard).toMatchObject([{ kind: 'bound', binding: { vendorSessionId: 'ses_1' } }])
    expect(vendor.requests).not.toContain('POST /session')
  })

  it('come back after the stream broke, and tell the end that nobody saw', async () => {
    open('ses_1')
    await until(() => vendor.streams === 1)
    setStatus('busy')
    await until(() => claims().length === 1)
    vendor.status = {}
    vendor.messages = [user('do it'), assistant('stop', 'done')]
    vendor.breakStreams()
    await until(() => claims().length === 2)
    expect(claims()).toEqual([{ kind: 'turn_started' }, { kind: 'turn_ended', outcome: 'answered', answer: undefined }])
    expect(vendor.sessions).toEqual([])
  })

  it('tell the turn that the program took before they were connected', async () => {
    const taken = user('quick')
    vendor.messages = [
      user('old'),
      { ...taken, info: { ...taken.info, id: 'msg_new', time: { created: Date.now() + 60_000 } } },
      assistant('stop', 'done'),
    ]
    open('ses_1')
    await until(() => claims().length === 2)
    expect(heard.flatMap((signal) => (signal.kind === 'accepted' ? [signal.text] : []))).toEqual(['quick'])
    expect(claims()).toEqual([{ kind: 'turn_started' }, { kind: 'turn_ended', outcome: 'answered', answer: undefined }])
  })

  it('tell a permission that was asked before they came', async () => {
    vendor.status = { ses_1: { type: 'busy' } }
    vendor.permissions = [{ id: 'per_1', sessionID: 'ses_1', permission: 'bash', patterns: ['ls'], metadata: {} }]
    open('ses_1')
    await until(() => claims().length === 2)
    expect(claims()[1]).toMatchObject({ kind: 'waiting', question: { text: 'Allow bash: ls', vendorId: 'per_1' } })
  })

  it('get no answer from a server that is not theirs, and keep trying', async () => {
    writeFileSync(join(folder, 'password'), 'wrong')
    const signals = open('ses_1')
    await until(() => vendor.requests.filter((request) => request === 'GET /event').length >= 2)
    expect(await signals.findAccepted('00a000000000' as MessageToken, waiting())).toBe('unknown')
    expect(await signals.loadAnswer(waiting())).toEqual({
      kind: 'none',
      why: '/session/ses_1/message?limit=10 answered 401',
    })
    expect(heard).toEqual([])
  })

  it('read the exact answer, waiting for a turn that is not written yet', async () => {
    const signals = open('ses_1')
    const running = assistant(undefined, '  exact')
    vendor.messages = [user('do it'), { ...running, info: { ...running.info, time: { created: 1 } } }]
    const answer = signals.loadAnswer(waiting())
    setTimeout(() => {
      vendor.messages = [user('do it'), assistant('stop', '  exact\n\ntext ')]
    }, 120)
    expect(await answer).toEqual({ kind: 'exact', text: '  exact\n\ntext ', source: 'api' })
  })

  it('say why there is no answer', async () => {
    const signals = open('ses_1')
    expect(await signals.loadAnswer(waiting())).toEqual({ kind: 'none', why: 'there was no turn yet' })
    vendor.messages = [
      user('x'),
      assistant(undefined, 'half', { name: 'MessageAbortedError', data: { message: 'Aborted' } }),
    ]
    expect(await signals.loadAnswer(waiting())).toEqual({ kind: 'none', why: 'Aborted' })
    vendor.messages = [user('x')]
    expect(await signals.loadAnswer(waiting(150))).toMatchObject({ kind: 'none' })
  })

  it("look for a message's token in what the person's side said", async () => {
    const signals = open('ses_1')
    vendor.messages = [user('[cao assign 00a000000001 from 1a2b3c4d]\nx'), assistant('stop', '00a000000002')]
    const find = (token: string) => signals.findAccepted(token as MessageToken, waiting())
    expect([await find('00a000000001'), await find('00a000000002')]).toEqual(['yes', 'no'])
  })
})
