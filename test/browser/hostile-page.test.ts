/**
 * Pages of others in a real Chromium, against a server that asks for no token (the harder case): nothing that they try changes anything here,
 * and nothing can be read. That the page can read where it is allowed to shows that the test would see it.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { TerminalBody } from '../../src/protocol/terminal.ts'
import { RealServer } from '../real-server.case.ts'
import { openPage } from './chromium.case.ts'
import { type Attempted, attemptCount, hostilePage } from './hostile-page.case.ts'
import { type PageServer, servePage, serveRebinding } from './page-server.case.ts'

const reportLimitMs = 60_000
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let pages: PageServer
let friends: PageServer
let real: RealServer
let agent: TerminalBody
let html = ''

beforeAll(async () => {
  pages = await servePage(() => html)
  friends = await servePage(() => html)
  const friend = `http://friend.example:${friends.port}`
  real = await RealServer.start({ CAO_CORS_ORIGINS: friend }, { noAuth: true })
  const project = join(real.home, 'project')
  await mkdir(project)
  const scripted = { provider: 'scripted', working_directory: project }
  agent = await real.client.createSession({ agent_profile: 'developer', ...scripted })
})
afterAll(async () => {
  await pages[Symbol.asyncDispose]()
  await friends[Symbol.asyncDispose]()
  await real[Symbol.asyncDispose]()
})

const bases = () => [`http://127.0.0.1:${real.port}`, `http://localhost:${real.port}`]

/** Everything that a page could have changed. */
async function stateOf() {
  const { metadata, life } = await real.client.getTerminal(agent.id)
  return {
    terminals: (await real.client.listTerminals()).map(({ id }) => id),
    sessions: (await real.client.listSessions()).map(({ name }) => name),
    messages: await real.client.listMessages(agent.id, { limit: 10 }),
    metadata,
    life,
  }
}

async function requestsOf(isChange: (line: { method: string; status: number }) => boolean): Promise<number> {
  const text = await readFile(real.config.layout.auditFile, 'utf8').catch(() => '')
  const lines = text.split('\n').filter((line) => line !== '')
  return lines
    .map((line) => JSON.parse(line) as { door: string; method: string; status: number })
    .filter((line) => line.door === 'tcp' && isChange(line)).length
}
const isTaken = ({ method, status }: { method: string; status: number }) => method !== 'GET' && status < 400
const isRefused = ({ status }: { status: number }) => [400, 403, 429].includes(status)

test.each(['evil.example', '127.0.0.1', 'localhost'])(
  'a page from another port of %s changes nothing and reads nothing',
  async (host) => {
    await using own = await servePage(() => html)
    html = hostilePage({ bases: bases(), terminalId: agent.id, reportUrl: '/report' })
    const before = await stateOf()
    const refusedBefore = await requestsOf(isRefused)
    await using _page = await openPage(`http://${host}:${own.port}/`)
    const { readable, attempts } = (await own.report(reportLimitMs)) as Attempted
    expect(attempts.length).toBe(2 * attemptCount)
    expect(readable).toEqual([])
    expect(await stateOf()).toEqual(before)
    expect([await requestsOf(isTaken), (await requestsOf(isRefused)) > refusedBefore]).toEqual([0, true])
  },
)

test('a page whose name is led to this machine after it was loaded changes nothing and reads nothing', async () => {
  const before = await stateOf()
  const reportUrl = `http://127.0.0.1:${pages.port}/report`
  await using _rebinding = await serveRebinding(
    real.port,
    hostilePage({ bases: [''], terminalId: agent.id, reportUrl }),
  )
  await using _page = await openPage(`http://rebound.example:${real.port}/`)
  const { readable, attempts } = (await pages.report(reportLimitMs)) as Attempted
  expect(attempts.length).toBe(attemptCount)
  expect(readable).toEqual([])
  expect(await stateOf()).toEqual(before)
  expect(await requestsOf(isTaken)).toBe(0)
})

test('a page that the person has allowed reads, which shows that these pages reach the server', async () => {
  const base = `http://127.0.0.1:${real.port}`
  html = hostilePage({ bases: [base], terminalId: agent.id, reportUrl: '/report', only: 'GET by fetch' })
  await using _page = await openPage(`http://friend.example:${friends.port}/`)
  const { readable } = (await friends.report(reportLimitMs)) as Attempted
  expect(readable).toEqual([[`${base} GET by fetch`, expect.stringContaining(agent.id)]])
})
