/** The person is told: real agents, a real command, a real webhook, a server that goes away and comes back. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { NoticePayload } from '../src/notify/notice.ts'
import { eventually, RealServer, waitForQuestion } from './real-server.case.ts'

// A machine that is busy with other suites is slow, not wrong.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
let real: RealServer
let dir: string
let hook: Server
const posted: NoticePayload[] = []
let status = 200
const secrets = mkdtempSync(join(tmpdir(), 'cao-secret-'))

beforeAll(async () => {
  hook = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (request.headers.authorization === 'Bearer the-secret') posted.push(JSON.parse(body) as NoticePayload)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  const { port } = hook.address() as AddressInfo
  writeFileSync(join(secrets, 'secret'), 'the-secret\n', { mode: 0o600 })
  real = await RealServer.start({
    // One file a call.
    CAO_NOTIFY_COMMAND: JSON.stringify(['sh', '-c', 'cat > told/$(date +%s%N).json']),
    CAO_NOTIFY_URL: `http://127.0.0.1:${port}/hidden-path`,
    CAO_NOTIFY_SECRET_FILE: join(secrets, 'secret'),
    CAO_NOTIFY_BATCH_S: '1',
    CAO_NOTIFY_KINDS: 'question,ended,lost,worktree',
  })
  dir = join(real.home, 'project')
  mkdirSync(dir)
  mkdirSync(join(real.config.layout.home, 'told'))
})
afterAll(async () => {
  await real[Symbol.asyncDispose]()
  hook.closeAllConnections()
  hook.close()
  rmSync(secrets, { recursive: true })
})

const launch = () =>
  real.client.createSession({ agent_profile: 'developer', provider: 'scripted', working_directory: dir })
const ask = async (id: string, text: string) => {
  const message = `ask ${text}? | red | blue\nreply done`
  await real.client.sendInput(id, { message, sender_id: 'user' })
  return waitForQuestion(real, id)
}
/** What the command was given, call by call. */
function commanded(): readonly NoticePayload[] {
  const folder = join(real.config.layout.home, 'told')
  const names = readdirSync(folder).toSorted((a, b) => a.localeCompare(b))
  return names.flatMap((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return text.endsWith('\n') ? [JSON.parse(text) as NoticePayload] : []
  })
}
const textsOf = (payloads: readonly NoticePayload[]) =>
  payloads.flatMap(({ notices }) => notices.map(({ text }) => text))
const toldOf = (text: string) =>
  eventually(`news of ${text}`, async () => {
    const both = [commanded(), posted].map((calls) => textsOf(calls).filter((said) => said.includes(text)).length)
    return both.every((count) => count > 0) ? both : undefined
  })

test('a question and an end come by both ways, once each, and a test says what became of it', async () => {
  expect(await real.client.testNotify()).toEqual({
    channels: [
      { channel: 'command', told: true, detail: '' },
      { channel: 'webhook', told: true, detail: 'it answered 200' },
    ],
  })
  const { id, session_name } = await launch()
  const question = await ask(id, 'Which colour')
  expect(await toldOf('Which colour')).toEqual([1, 1])
  const notices = posted.flatMap((payload) => payload.notices)
  expect(notices.find(({ kind }) => kind === 'question')).toMatchObject({
    terminal_id: id,
    session_name,
    agent_profile: 'developer',
    question_id: question.id,
    options: question.options,
  })
  await real.client.answerQuestion(id, { answer: 'red', question_id: question.id })
  await eventually('its rest', async () =>
    (await real.client.getTerminal(id)).status === 'completed' ? true : undefined,
  )
  await real.client.sendInput(id, { message: 'crash', sender_id: 'user' }).catch(() => undefined)
  await eventually('its end', async () => ((await real.client.getTerminal(id)).life === 'exited' ? true : undefined))
  expect(await toldOf('exit code')).toEqual([1, 1])
  const told = { due: 0, last: { told: true } }
  // What was told is written down after it was.
  await expect
    .poll(() => real.client.getNotify(), { timeout: 10_000 })
    .toMatchObject({
      kinds: ['question', 'ended', 'lost', 'worktree'],
      quiet: null,
      batch_s: 1,
      channels: [
        { channel: 'command', ...told },
        { channel: 'webhook', ...told },
      ],
    })
})

test('what was due when the server went away is told after its start, and what was answered before that is not', async () => {
  const first = await launch()
  const second = await launch()
  const answered = await ask(first.id, 'Answered soon')
  await real.client.answerQuestion(first.id, { answer: 'red', question_id: answered.id })
  await ask(second.id, 'Still open')
  await real.close()
  await real.open()
  expect(await toldOf('Still open')).toEqual([1, 1])
  expect(textsOf([...commanded(), ...posted]).filter((text) => text.includes('Answered soon'))).toEqual([])
})

test('a webhook that refuses is given up aloud, and neither URL nor secret stands in a log or an event', async () => {
  status = 403
  const { id } = await launch()
  await ask(id, 'Refused')
  const failed = await eventually('the failure', async () => {
    const { last_seq } = await real.client.listEvents({ limit: 1 })
    const { events } = await real.client.listEvents({ after: Math.max(0, last_seq - 200), limit: 500 })
    return events.find(({ type }) => type === 'notify.failed')
  })
  status = 200
  expect(failed).toMatchObject({ channel: 'webhook', count: 1, detail: 'it answered 403' })
  const log = readFileSync(real.config.layout.serverLog, 'utf8')
  expect(log).toContain('person not told')
  expect(log + JSON.stringify(failed)).not.toMatch(/hidden-path|the-secret/)
})
