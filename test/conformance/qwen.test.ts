/**
 * The qwen_cli provider with the real program in panes of the real tmux backend, against our scripted model on loopback: no
 * vendor, no key, no account.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { longText, markdownText, unicodeText } from '../../src/agents/rules/texts.ts'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import type { ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import type { TerminalBackend } from '../../src/backend/backend.ts'
import { createTmuxBackend } from '../../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../../src/lib/log.ts'
import { describeProvider } from '../../src/providers/conformance.case.ts'
import { createQwenProvider } from '../../src/providers/qwen_cli/qwen-provider.ts'
import { RunningAgent } from '../../src/providers/running-agent.case.ts'
import { furnishQwen, installLimitMs, openModel, pathWithNode, qwenEnv, requireQwen } from './qwen-program.case.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'cao-qwen-')))
const waiting = (limitMs = 20_000) => ({ signal: AbortSignal.timeout(limitMs) })
const stepLimitMs = 60_000
vi.setConfig({ testTimeout: 180_000 })
const asked: ModelRequest[] = []
const clientEnv: Record<string, string> = { PATH: pathWithNode, HOME: home, LANG: 'C.UTF-8', TMPDIR: home }
const ownProgram = await requireQwen()
let model: ScriptedModel | undefined
let settings = { path: '', text: '' }

beforeAll(async () => {
  model = await openModel((request) => asked.push(request))
  Object.assign(clientEnv, qwenEnv(model.port))
  settings = furnishQwen(home)
}, installLimitMs)

afterAll(async () => {
  await model?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const provider = createQwenProvider({ ownProgram, node: process.execPath })

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

describeProvider('qwen_cli', {
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

describe('Qwen Code itself', () => {
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

  test("gives the model the profile's prompt", async () => {
    await using agent = await startReady()
    await agent.send('reply seen')
    await agent.waitForEnd('answered')
    expect(asked.findLast(({ tools }) => tools.length > 0)?.systemPrompt).toContain('You are tested.')
  })

  test('a turn is told once, from its record, with what it took', async () => {
    await using agent = await startReady('allow')
    await agent.send('say I look.\ntool echo found\nsay The first part.\nreply It says: {result}')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    const ends = agent.heard.filter((signal) => signal.kind === 'claim' && signal.claim.kind === 'turn_ended')
    expect(ends).toMatchObject([{ source: 'transcript' }])
    const answer = await agent.loadAnswer()
    expect(answer).toMatchObject({ kind: 'exact', cost: { inputTokens: 240, outputTokens: 40 } })
    expect(answer.kind === 'exact' ? answer.text : '').toMatch(/^The first part\.\n\nIt says: [^]*found/)
  })

  test.each(['unicode', 'markdown', 'long 200'])('the answer to "%s" is exact', async (rule) => {
    await using agent = await startReady()
    await agent.send(rule)
    await agent.waitForEnd('answered')
    const expected = { unicode: unicodeText, markdown: markdownText, 'long 200': longText(200) }[rule] ?? ''
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: expected })
  })

  test.each([
    ['error 400', 'scripted error 400'],
    ['say Half of\ncrash', 'terminated'],
  ])('"%s" ends the turn as failed, and says why', async (message, detail) => {
    await using agent = await startReady()
    await agent.send(message)
    await agent.waitForEnd('failed')
    const failed = claimsOf(agent).filter(({ kind }) => kind === 'failed')
    expect(failed).toMatchObject([{ reason: 'api_error', detail: expect.stringContaining(detail) as unknown }])
    await agent.waitForReady()
  })

  test.each(['error 429', 'error 500'])('"%s" is tried again for long, at work all the while', async (message) => {
    await using agent = await startReady()
    const from = asked.length
    await agent.send(message)
    await agent.waitForSignal('three tries', () => asked.slice(from).filter(({ tools }) => tools.length > 0).length > 2)
    expect((await agent.read()).claim).toMatchObject({ kind: 'busy' })
    await agent.press(provider.quirks.interrupt)
    await agent.waitForEnd('interrupted')
    await agent.waitForReady({ isClearing: true })
  })

  test('a permission that is refused, at the keyboard or by an answer, interrupts the turn', async () => {
    await using agent = await startReady()
    await agent.send('reply before')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    await agent.send('tool touch refused')
    const question = await agent.waitForQuestion('permission')
    expect(question.text).toContain('touch refused')
    await agent.answer(question, 'no')
    await agent.waitForEnd('interrupted')
    await agent.waitForReady({ isClearing: true })
    await agent.send('tool touch refused-too')
    await agent.waitForQuestion('permission')
    await new Promise((resolve) => setTimeout(resolve, 500))
    await agent.press(provider.quirks.interrupt)
    await agent.waitForEnd('interrupted')
    await agent.waitForReady({ isClearing: true })
    await agent.send('reply after')
    await agent.waitForEnd('answered')
    expect(claimsOf(agent).filter(({ kind }) => kind === 'question_closed')).not.toEqual([])
    const accepted = agent.heard.flatMap((signal) => (signal.kind === 'accepted' ? [signal.text] : []))
    expect(accepted).toEqual(['reply before', 'tool touch refused', 'tool touch refused-too', 'reply after'])
  })

  test('an answer in words of its own is given to a question', async () => {
    await using agent = await startReady()
    await agent.send('ask Which colour? | Red | Blue\nreply It said: {result}')
    await agent.answer(await agent.waitForQuestion('question'), 'a warm green')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ text: expect.stringContaining('a warm green') as unknown })
  })

  test('takes us with a person who goes on in a new conversation', async () => {
    await using agent = await startReady()
    await agent.send('reply first')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    const former = agent.binding['vendorSessionId']
    await agent.press([{ kind: 'text', text: '/clear' }])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await agent.press([{ kind: 'key', name: 'Enter' }])
    await agent.waitForReady()
    await agent.send('reply second')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: 'second' })
    expect(agent.binding['vendorSessionId']).not.toBe(former)
  })
})

test("leaves the person's settings as they were", () => {
  expect(readFileSync(settings.path, 'utf8')).toBe(settings.text)
})
