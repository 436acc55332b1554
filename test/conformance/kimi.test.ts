/**
 * The kimi_cli provider with the real program in panes of the real tmux backend, against our scripted model on loopback: no
 * vendor, no key, no account.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { longText, markdownText, unicodeText } from '../../src/agents/rules/texts.ts'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import { openScriptedModel, type ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import type { TerminalBackend } from '../../src/backend/backend.ts'
import { createTmuxBackend } from '../../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../../src/lib/log.ts'
import { describeProvider } from '../../src/providers/conformance.case.ts'
import { kimiVersion } from '../../src/providers/kimi_cli/install.ts'
import { createKimiProvider } from '../../src/providers/kimi_cli/kimi-provider.ts'
import { RunningAgent } from '../../src/providers/running-agent.case.ts'
import { installLimitMs, requireProgram, requireRig } from './cli-rig.case.ts'
import { furnishKimi, kimiEnv } from './kimi-program.case.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'cao-kimi-')))
const waiting = (limitMs = 20_000) => ({ signal: AbortSignal.timeout(limitMs) })
const stepLimitMs = 60_000
vi.setConfig({ testTimeout: 180_000 })
const asked: ModelRequest[] = []
let model: ScriptedModel | undefined
let settings = { path: '', text: '' }
const clientEnv: Record<string, string> = {
  PATH: ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
  HOME: home,
  LANG: 'C.UTF-8',
  TMPDIR: home,
  ...kimiEnv,
}

const rig = requireRig('kimi_cli')

beforeAll(async () => {
  clientEnv['PATH'] = [await requireProgram(rig, kimiVersion), clientEnv['PATH']].join(delimiter)
  model = await openScriptedModel({ clock: systemClock, port: 0, onRequest: (request) => asked.push(request) })
  settings = furnishKimi(home, model.port)
}, installLimitMs)

afterAll(async () => {
  await model?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const provider = createKimiProvider({ ownProgram: undefined })

async function openBackend(name: string): Promise<TerminalBackend> {
  const backend = createTmuxBackend({
    clock: systemClock,
    log: silentLog,
    randomHex: (digits) => randomBytes(digits).toString('hex').slice(0, digits),
    runDir: join(home, name),
    terminalsDir: join(home, `${name}-terminals`),
    env: process.env,
    tempDir: home,
  })
  await backend.ensure(waiting())
  return backend
}

async function closeBackend(backend: TerminalBackend): Promise<void> {
  await backend.shutdown(waiting())
  await backend[Symbol.asyncDispose]()
}

describeProvider('kimi_cli', {
  provider,
  openBackend: () => openBackend('suite'),
  closeBackend,
  clientEnv,
  permissionMode: 'ask',
  stepLimitMs,
  messages: {
    reply: (text) => `reply ${text.replaceAll('\n', '\\n')}`,
    slow: 'say It begins.\nslow 30',
    permission: 'tool touch allowed',
    question: { message: 'ask Which colour? | Red | Blue', text: 'Which colour?', options: ['Red', 'Blue'] },
    imitation: 'imitate',
  },
})

describe('Kimi Code itself', () => {
  let backend: TerminalBackend
  beforeAll(async () => {
    backend = await openBackend('itself')
  })
  afterAll(() => closeBackend(backend))

  async function startReady(permissionMode = 'ask'): Promise<RunningAgent> {
    const size = { cols: 200, rows: 50 }
    const agent = await RunningAgent.start({ provider, backend, clientEnv, size, stepLimitMs, permissionMode })
    await agent.waitForReady()
    return agent
  }
  const claimsOf = (agent: RunningAgent) =>
    agent.heard.flatMap((signal) => (signal.kind === 'claim' ? [signal.claim] : []))

  test("gives the model the profile's prompt behind its own", async () => {
    await using agent = await startReady()
    await agent.send('reply seen')
    await agent.waitForEnd('answered')
    const prompt = asked.findLast(({ tools }) => tools.length > 0)?.systemPrompt
    expect(prompt).toMatch(/^You are Kimi Code CLI[^]*You are tested\.\s*$/)
  })

  test('a turn is told once, with what it took and the words after its last step', async () => {
    await using agent = await startReady('allow')
    await agent.send('say I look.\ntool echo found\nsay The first part.\nreply It says: {result}')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    const ends = agent.heard.filter((signal) => signal.kind === 'claim' && signal.claim.kind === 'turn_ended')
    expect(ends).toMatchObject([{ source: 'hook' }])
    const answer = await agent.loadAnswer()
    expect(answer).toMatchObject({ kind: 'exact', cost: { inputTokens: 240, outputTokens: 40 } })
    expect(answer.kind === 'exact' ? answer.text : '').toMatch(/^The first part\.\n\nIt says: [^]*found/)
  })

  test.each(['unicode', 'markdown', 'long 200'])('the answer to "%s" is exact', async (rule) => {
    await using agent = await startReady()
    await agent.send(rule)
    await agent.waitForEnd('answered')
    const expected = { unicode: unicodeText, markdown: markdownText, 'long 200': longText(200) }[rule]
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: expected })
  })

  test('a request that is refused ends the turn as failed, and says why', async () => {
    await using agent = await startReady()
    await agent.send('error 400')
    await agent.waitForEnd('failed')
    const failed = claimsOf(agent).filter(({ kind }) => kind === 'failed')
    expect(failed).toMatchObject([{ reason: 'api_error', detail: '400 scripted error 400' }])
    await agent.waitForReady()
  })

  test.each(['error 500', 'error 429'])('tries again by itself after "%s", which is seen', async (message) => {
    await using agent = await startReady()
    await agent.send(message)
    await agent.waitForReading(
      'the wait for another try',
      ({ claim }) => claim?.kind === 'busy' && claim.reason === 'retrying',
    )
    await agent.interrupt()
    await agent.waitForEnd('interrupted')
    await agent.waitForReady()
  })

  test('asks again when the connection breaks', async () => {
    await using agent = await startReady()
    await agent.send('say Half of\ncrash')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: 'Done.' })
  })

  test('a permission that is refused goes to the model, and the turn goes on', async () => {
    await using agent = await startReady()
    await agent.send('tool touch refused\nreply it was not to be')
    const question = await agent.waitForQuestion('permission')
    expect(question.text).toContain('$ touch refused')
    await agent.answer(question, 'no')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ text: 'it was not to be' })
    expect(claimsOf(agent).filter(({ kind }) => kind === 'question_closed')).toHaveLength(1)
  })

  test('an answer in words of its own is given to a question', async () => {
    await using agent = await startReady()
    await agent.send('ask Which colour? | Red | Blue\nreply It said: {result}')
    await agent.answer(await agent.waitForQuestion('question'), 'a warm green')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ text: expect.stringContaining('a warm green') as unknown })
  })

  test("a sub-agent's end is not taken for the agent's own", async () => {
    await using agent = await startReady()
    await agent.send('call Agent {"prompt":"reply sub","description":"count words"}\nsay It goes on.\nslow 12')
    await agent.waitForReading('work', ({ claim }) => claim?.kind === 'busy')
    await agent.waitForEnd('answered')
    const answer = await agent.loadAnswer()
    expect(answer.kind === 'exact' ? answer.text : '').toMatch(/^It goes on\./)
    expect(claimsOf(agent).filter(({ kind }) => kind === 'turn_ended')).toHaveLength(1)
  })

  test('work of a sub-agent in the background is seen after the turn', async () => {
    await using agent = await startReady()
    await agent.send('call Agent {"prompt":"slow 12","description":"count","run_in_background":true}\nreply started')
    await agent.waitForEnd('answered')
    await agent.waitForReading(
      'work in the background',
      ({ claim }) => claim?.kind === 'busy' && claim.reason === 'background',
    )
    await agent.waitForReady()
  })

  test('takes us with a person who goes on in a new conversation', async () => {
    await using agent = await startReady()
    await agent.send('reply first')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    await agent.press([{ kind: 'text', text: '/new' }])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await agent.press([{ kind: 'key', name: 'Enter' }])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await agent.waitForReady()
    await agent.send('reply second')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: 'second' })
    const ids = agent.heard.flatMap((signal) => (signal.kind === 'bound' ? [signal.binding['vendorSessionId']] : []))
    expect(new Set(ids).size).toBe(2)
  })
})

test("leaves the person's settings alone, and keeps in their home what Kimi Code itself keeps there", () => {
  expect(readFileSync(settings.path, 'utf8')).toBe(settings.text)
  const kept = readdirSync(join(home, '.kimi-code')).toSorted()
  expect(kept).toEqual(['config.toml', 'credentials', 'sessions', 'workspace-trust'])
})
