/**
 * The codex provider with the real program in panes of the real tmux backend, against our scripted model on loopback: no
 * vendor, no key, no account.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { longText, markdownText, unicodeText } from '../../src/agents/rules/texts.ts'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import type { ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import type { TerminalBackend } from '../../src/backend/backend.ts'
import { createTmuxBackend } from '../../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createCodexProvider } from '../../src/providers/codex/codex-provider.ts'
import { codexProgramIn } from '../../src/providers/codex/install.ts'
import { describeProvider } from '../../src/providers/conformance.case.ts'
import type { Signal } from '../../src/providers/provider.ts'
import { RunningAgent } from '../../src/providers/running-agent.case.ts'
import { codexDir, furnishHome, installLimitMs, openModel, requireCodex } from './codex-program.case.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'cao-codex-')))
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
  OPENAI_API_KEY: 'none',
}

beforeAll(async () => {
  await requireCodex()
  model = await openModel((request) => asked.push(request))
  settings = furnishHome(home, model)
}, installLimitMs)

afterAll(async () => {
  await model?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const provider = createCodexProvider({ ownProgram: codexProgramIn(codexDir) })

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

/** Out of the sandbox, which is asked for. */
const escalate = (command: string) =>
  `call exec_command ${JSON.stringify({ cmd: command, sandbox_permissions: 'require_escalated', justification: 'test' })}`

describeProvider('codex', {
  provider,
  openBackend: () => openBackend('suite'),
  closeBackend,
  clientEnv,
  permissionMode: 'ask',
  stepLimitMs,
  messages: {
    reply: (text) => `reply ${text.replaceAll('\n', '\\n')}`,
    slow: 'say It begins.\nslow 30',
    permission: escalate('touch allowed'),
    question: { message: 'ask Which colour? | Red | Blue', text: 'Which colour?', options: ['Red', 'Blue'] },
    imitation: 'imitate',
  },
})

describe('Codex itself', () => {
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
    await using agent = await startReady()
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
    const expected = { unicode: unicodeText, markdown: markdownText, 'long 200': longText(200) }[rule]
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: expected })
  })

  test.each([
    ['error 400', 'api_error', 'scripted error 400'],
    ['error 429', 'rate_limited', '429'],
    ['say Half of\ncrash', 'api_error', 'disconnected'],
  ])('"%s" ends the turn as failed (%s), and says why', async (message, reason, detail) => {
    await using agent = await startReady()
    await agent.send(message)
    await agent.waitForEnd('failed')
    const failed = claimsOf(agent).filter(({ kind }) => kind === 'failed')
    expect(failed).toMatchObject([{ reason, detail: expect.stringContaining(detail) as unknown }])
    await agent.waitForReady()
  })

  test('tries again by itself after a fault of the server, which is seen, and gives up in the end', async () => {
    await using agent = await startReady()
    await agent.send('error 500')
    await agent.waitForReading(
      'the wait for another try',
      ({ claim }) => claim?.kind === 'busy' && claim.reason === 'retrying',
    )
    await agent.waitForEnd('failed')
    await agent.waitForReady()
  })

  test('a permission that is refused, at the keyboard or by an answer, interrupts the turn', async () => {
    await using agent = await startReady()
    await agent.send(escalate('touch refused'))
    const question = await agent.waitForQuestion('permission')
    expect(question.text).toContain('$ touch refused')
    await agent.answer(question, 'no')
    await agent.waitForEnd('interrupted')
    await agent.waitForReady()
    await agent.send(escalate('touch refused-too'))
    await agent.waitForQuestion('permission')
    await new Promise((resolve) => setTimeout(resolve, 500))
    await agent.press(provider.quirks.interrupt)
    await agent.waitForEnd('interrupted')
    await agent.waitForReady()
    expect(claimsOf(agent).filter(({ kind }) => kind === 'question_closed')).not.toEqual([])
  })

  test('an answer in words of its own is given to a question', async () => {
    await using agent = await startReady()
    await agent.send('ask Which colour? | Red | Blue\nreply It said: {result}')
    await agent.answer(await agent.waitForQuestion('question'), 'a warm green')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ text: expect.stringContaining('a warm green') as unknown })
  })

  test('a prompt that is typed while it works steers the turn: it is taken at once, and there is one end', async () => {
    await using agent = await startReady()
    await agent.send('say It begins.\nslow 20')
    await agent.waitForReading('work', ({ claim }) => claim?.kind === 'busy')
    await agent.send('reply steered')
    await agent.waitForEnd('answered')
    const accepted = agent.heard.flatMap((signal) => (signal.kind === 'accepted' ? [signal.text] : []))
    expect(accepted).toEqual(['say It begins.\nslow 20', 'reply steered'])
    expect(await agent.loadAnswer()).toMatchObject({ text: 'steered' })
  })

  test('a command that goes on in the background does not hold its turn', async () => {
    await using agent = await startReady('allow')
    await agent.send('call exec_command {"cmd":"sleep 20","yield_time_ms":300}\nreply it goes on')
    await agent.waitForEnd('answered')
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
    await agent.waitForSignal('another conversation', (signals) => countConversations(signals) === 2)
    await agent.waitForReady()
    await agent.send('reply second')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: 'second' })
  })
  const countConversations = (signals: readonly Signal[]) => {
    const ids = signals.flatMap((signal) =>
      signal.kind === 'bound' ? [String(signal.binding['vendorSessionId'])] : [],
    )
    return new Set(ids.map((id) => id.slice(0, 29))).size
  }
})

test("leaves the person's settings, but for what Codex itself keeps there", () => {
  const now = readFileSync(settings.path, 'utf8')
  expect(now.startsWith(settings.text.trimEnd())).toBe(true)
  expect(now).not.toMatch(/cao|trust_level|developer_instructions/)
})
