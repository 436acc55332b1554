/**
 * The HTTP interface under test, and the book of what was asked of it: every answer that comes through `ask` must be one that its route
 * declares, in body and code, and at the end every declared answer must have been seen (`untested`). So a route, or a code of it,
 * that has no test here fails the suite by name.
 */
import { mkdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { z } from 'zod'
import { errorSchema } from '../../src/protocol/error-schema.ts'
import type { TerminalBody } from '../../src/protocol/terminal.ts'
import { errorsByStatus } from '../../src/server/openapi.ts'
import type { Route } from '../../src/server/route.ts'
import { routes } from '../../src/server/routes.ts'
import { type Answer, type Ask, eventually, RealServer } from '../real-server.case.ts'

/** Refusals that meet every request, whatever its route declares. */
const general = ['Invalid host header', 'Cross-origin request blocked']

export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown
export const hex8 = expect.stringMatching(/^[a-f0-9]{8}$/) as unknown
export const text = expect.any(String) as unknown

export class Contract implements AsyncDisposable {
  readonly real: RealServer
  readonly dir: string
  /** `GET /terminals/:id 404 NOT_FOUND`, and without a code for a success. */
  readonly seen = new Set<string>()
  #sessions = 0

  private constructor(real: RealServer, dir: string) {
    this.real = real
    this.dir = dir
  }

  static async start(): Promise<Contract> {
    const real = await RealServer.start({ CAO_CORS_ORIGINS: 'http://listed.example:5173', CAO_LIMIT_HOPS: '3' })
    const dir = join(real.home, 'project')
    await mkdir(dir)
    return new Contract(real, dir)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.real[Symbol.asyncDispose]()
  }

  /** Asks, and holds the answer to what the route declares. Whoever asks too often waits as long as he is told. */
  readonly ask = async (method: string, path: string, how?: Ask): Promise<Answer> => {
    const answer = await this.real.ask(method, path, how)
    const { code, data } = (answer.body ?? {}) as { code?: string; data?: { retry_after_s?: number } }
    if (code === 'RATE_LIMITED') {
      await new Promise((resolve) => setTimeout(resolve, (data?.retry_after_s ?? 1) * 1_000))
      return this.ask(method, path, how)
    }
    const route = findRoute(method, path)
    if (route !== undefined) this.note(route, answer)
    return answer
  }

  /** Reads a stream until `count` frames have come, and leaves it. */
  readonly readStream = async (path: string, count: number): Promise<readonly string[]> => {
    const frames = await new Promise<readonly string[]>((resolve, reject) => {
      const sent = request({ socketPath: this.real.socketPath, path, agent: false }, (answer) => {
        expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
        let read = ''
        answer.setEncoding('utf8').on('data', (part: string) => {
          read += part
          const whole = read.split('\n\n').slice(0, -1)
          if (whole.length < count) return
          answer.destroy()
          resolve(whole.slice(0, count))
        })
      })
      sent.on('error', reject).end()
    })
    this.seen.add(`${findRoute('GET', path)?.at} 200`)
    return frames
  }

  note(route: Route, { status, body, text: raw }: Answer): void {
    if (status === (route.status ?? 200)) {
      if (typeof route.answer !== 'string') expectExactly(route.answer, body, route.at)
      this.seen.add(`${route.at} ${status}`)
      return
    }
    const error = errorSchema.safeParse(body)
    if (!error.success) throw new Error(`${route.at} answered ${status} ${raw}, which is no error of ours`)
    const { code, detail } = error.data
    if (typeof detail === 'string' && general.includes(detail)) return
    if (errorsByStatus(route).get(status)?.includes(code) !== true) {
      throw new Error(`${route.at} answered ${status} ${code}, which it does not declare: ${raw}`)
    }
    this.seen.add(`${route.at} ${status} ${code}`)
  }

  /** What is declared and was not seen, by name. */
  untested(): readonly string[] {
    return routes.flatMap(declared).filter((answer) => !this.seen.has(answer))
  }

  /** A session with one agent. */
  readonly createAgent = async (
    query: Readonly<Record<string, string>> = {},
    body?: unknown,
  ): Promise<TerminalBody> => {
    const named = { session_name: `team-${++this.#sessions}`, ...this.given(query) }
    return made(await this.ask('POST', `/sessions?${new URLSearchParams(named).toString()}`, { body }))
  }

  readonly addAgent = async (session: string, query: Readonly<Record<string, string>> = {}): Promise<TerminalBody> =>
    made(await this.ask('POST', `/sessions/${session}/terminals?${new URLSearchParams(this.given(query)).toString()}`))

  /** One whose program has ended. */
  readonly createExited = async (
    query: Readonly<Record<string, string>> = {},
    body?: unknown,
  ): Promise<TerminalBody> => {
    const { id } = await this.createAgent(query, body)
    expect((await this.ask('POST', `/terminals/${id}/exit`)).body).toEqual({ success: true })
    return this.waitForLife(id, 'exited')
  }

  readonly waitForLife = (id: string, life: string): Promise<TerminalBody> =>
    eventually(`${id} to be ${life}`, async () => {
      const terminal = (await this.ask('GET', `/terminals/${id}`)).body as TerminalBody
      return terminal.life === life ? terminal : undefined
    })

  readonly waitForStatus = (id: string, status: string): Promise<TerminalBody> =>
    eventually(`status ${status} of ${id}`, async () => {
      const terminal = (await this.ask('GET', `/terminals/${id}`)).body as TerminalBody
      return terminal.status === status ? terminal : undefined
    })

  given(query: Readonly<Record<string, string>>): Record<string, string> {
    return { agent_profile: 'developer', provider: 'scripted', working_directory: this.dir, ...query }
  }

  /** A profile of this home; the same name again replaces it. */
  profilePath(name: string): string {
    return join(this.real.config.layout.agentStoreDir, `${name}.md`)
  }
}

/** The codes of one refusal, as tests compare them. */
export const refusal = ({ status, body }: Answer): readonly unknown[] => [status, (body as { code?: unknown }).code]

function made(answer: Answer): TerminalBody {
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return answer.body as TerminalBody
}

function declared(route: Route): readonly string[] {
  const errors = [...errorsByStatus(route)].flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`))
  return [String(route.status ?? 200), ...errors].map((answer) => `${route.at} ${answer}`)
}

/** Literal parts win, as on the server. */
function findRoute(method: string, path: string): Route | undefined {
  const [plain = ''] = path.split('?')
  const matching = routes.filter(
    (route) => route.method === method && new RegExp(`^${route.pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(plain),
  )
  return matching.find(({ pattern }) => !pattern.includes(':')) ?? matching[0]
}

/** Nothing is missing and nothing is there that is not described. */
function expectExactly(schema: z.ZodType, body: unknown, at: string): void {
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw new Error(`${at} answered what it does not declare: ${parsed.error.message}`)
  expect(body, at).toEqual(parsed.data)
}
