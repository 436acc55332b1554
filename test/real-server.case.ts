/**
 * A whole CAO for a test: the real server in this process, in a home of its own, with a private tmux and scripted agents.
 * `ask` speaks plain HTTP, so that tests name paths and bodies literally. Disposing ends agents, tmux and server.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../src/client/client.ts'
import { AppError } from '../src/domain/errors.ts'
import { readServerConfig, type ServerConfig } from '../src/main/server-config.ts'
import { type RunningServer, startServer } from '../src/main/start-server.ts'
import type { QuestionBody } from '../src/protocol/question.ts'

export type Answer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  readonly text: string
}
export type Ask = {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is, instead of `body` as JSON. */
  readonly raw?: string | Uint8Array
  readonly door?: 'unix' | 'tcp'
}

export class RealServer implements AsyncDisposable {
  readonly home: string
  readonly config: ServerConfig
  #server: RunningServer | undefined

  private constructor(home: string, config: ServerConfig) {
    this.home = home
    this.config = config
  }

  static async start(
    env: Readonly<Record<string, string>> = {},
    flags: { readonly noAuth?: boolean } = {},
  ): Promise<RealServer> {
    const home = await mkdtemp(join(tmpdir(), 'cao-it-'))
    const path = process.env['PATH'] ?? ''
    const own = { HOME: home, CAO_HOME: join(home, 'cao'), PATH: path, LANG: 'C.UTF-8', SHELL: '/bin/sh' }
    const real = new RealServer(home, await readServerConfig({ ...own, ...env }, { port: '0', ...flags }))
    await real.open()
    return real
  }

  async open(config: ServerConfig = this.config): Promise<void> {
    this.#server = await startServer(config)
  }

  /** Stops the server and leaves its agents alone. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await server?.[Symbol.asyncDispose]()
  }

  get socketPath(): string {
    return this.#server?.file.socket_path ?? ''
  }

  get port(): number {
    return this.#server?.file.tcp_port ?? 0
  }

  get client() {
    return createClient({ socketPath: this.socketPath })
  }

  token(): Promise<string> {
    return readFile(this.config.layout.tokenFile, 'utf8').then((text) => text.trim())
  }

  readToken(): Promise<string> {
    return readFile(this.config.layout.readTokenFile, 'utf8').then((text) => text.trim())
  }

  /** The secret of an agent, as its own programs would read it. */
  capability(terminalId: string): Promise<string> {
    const path = join(this.config.layout.terminalsDir, terminalId, 'capability')
    return readFile(path, 'utf8').then((text) => text.trim())
  }

  ask(method: string, path: string, { body, headers, raw, door = 'unix' }: Ask = {}): Promise<Answer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const where = door === 'unix' ? { socketPath: this.socketPath } : { host: '127.0.0.1', port: this.port }
    const length = { 'content-length': String(Buffer.byteLength(payload ?? '')) }
    const whole = { ...(method === 'GET' ? {} : length), 'content-type': 'application/json', ...headers }
    return new Promise((resolve, reject) => {
      const sent = request({ ...where, method, path, agent: false, headers: whole }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => (text += part))
        answer
          .on('error', reject)
          .on('end', () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, body: parse(text) }),
          )
      })
      sent.on('error', reject).end(payload)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server === undefined) await this.open()
    await this.client.shutdownAll().catch(acceptGone)
    await this.close()
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A test may have shut everything down by itself. */
function acceptGone(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'BACKEND_GONE') throw error
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Waits until `look` gives something. Errors: says what it waited for. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>, limitMs = 30_000): Promise<T> {
  const endMs = performance.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The open question of a scripted agent, once its own hook has told of it: the screen may show it a moment earlier. */
export function waitForQuestion(real: RealServer, terminalId: string): Promise<QuestionBody> {
  return eventually('the question', async () => {
    const { trail, open_questions: open } = await real.client.explain(terminalId)
    return trail.some(({ raw }) => raw.startsWith('QuestionOpened')) ? open[0] : undefined
  })
}
