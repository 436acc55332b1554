/**
 * The claude_code provider with the real program in panes of the real tmux backend, against our scripted model on loopback:
 * no vendor, no key, no account.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import type { TerminalBackend } from '../../src/backend/backend.ts'
import { createTmuxBackend } from '../../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createClaudeProvider } from '../../src/providers/claude_code/claude-provider.ts'
import { claudeProgramIn } from '../../src/providers/claude_code/install.ts'
import { describeProvider } from '../../src/providers/conformance.case.ts'
import type { Signal } from '../../src/providers/provider.ts'
import { RunningAgent } from '../../src/providers/running-agent.case.ts'
import { claudeDir, claudeEnv, furnishHome, installLimitMs, openModel, requireClaude } from './claude-program.case.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'cao-claude-')))
const waiting = (limitMs = 20_000) => ({ signal: AbortSignal.timeout(limitMs) })
/** A program of 384 MB starts slowly on a busy machine. */
const stepLimitMs = 60_000
vi.setConfig({ testTimeout: 180_000 })
let model: ScriptedModel | undefined
const settings = furnishHome(home)
const clientEnv: Record<string, string> = {
  PATH: ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
  HOME: home,
  LANG: 'C.UTF-8',
  TMPDIR: home,
}

beforeAll(async () => {
  await requireClaude()
  model = await openModel()
  Object.assign(clientEnv, claudeEnv(model))
}, installLimitMs)

afterAll(async () => {
  await model?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const provider = createClaudeProvider({ ownProgram: claudeProgramIn(claudeDir) })

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

describeProvider('claude_code', {
  provider,
  openBackend: () => openBackend('suite'),
  closeBackend,
  clientEnv,
  permissionMode: 'ask',
  stepLimitMs,
  messages: {
    reply: (text) => `reply ${text.replaceAll('\n', '\\n')}`,
    slow: 'say It begins.\nslow 30',
    // `echo` alone is known to be harmless and never asked for.
    permission: 'tool touch allowed',
    question: { message: 'ask Which colour? | Red | Blue', text: 'Which colour?', options: ['Red', 'Blue'] },
    imitation: 'imitate',
  },
})

describe('Claude Code itself', () => {
  let backend: TerminalBackend
  beforeAll(async () => {
    backend = await openBackend('itself')
  })
  afterAll(() => closeBackend(backend))

  async function startReady(): Promise<RunningAgent> {
    const size = { cols: 200, rows: 50 }
    const agent = await RunningAgent.start({
      provider,
      backend,
      clientEnv,
      size,
      stepLimitMs,
      permissionMode: 'ask',
    })
    await agent.waitForReady()
    return agent
  }
  const claimsOf = (agent: RunningAgent) =>
    agent.heard.flatMap((signal) => (signal.kind === 'claim' ? [signal.claim] : []))

  test('a turn that leaves work to a sub-agent ends once, when that is done', async () => {
    await using agent = await startReady()
    await agent.send('call Agent {"description":"sub","prompt":"slow 3","subagent_type":"general-purpose"}')
    await agent.waitForReading('the wait for a sub-agent', ({ rule }) => rule === 'background line')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    const told = claimsOf(agent).map((claim) => (claim.kind === 'busy' ? claim.reason : claim.kind))
    expect(told.filter((each) => each === 'turn_ended')).toHaveLength(1)
    expect(told.indexOf('background')).toBeLessThan(told.indexOf('turn_ended'))
  })

  test('a prompt that is typed while it works is taken at once, and answered in its turn', async () => {
    await using agent = await startReady()
    await agent.send('say It begins.\nslow 4')
    await agent.waitForReading('work', ({ claim }) => claim?.kind === 'busy')
    await agent.send('reply the second')
    await agent.waitForEnd('answered')
    await agent.waitForEnd('answered')
    const accepted = agent.heard.flatMap((signal) => (signal.kind === 'accepted' ? [signal.text] : []))
    expect(accepted).toEqual(['say It begins.\nslow 4', 'reply the second'])
    expect(await agent.loadAnswer()).toMatchObject({ text: 'the second' })
  })

  test('a permission that is refused, at the keyboard or by an answer, interrupts the turn', async () => {
    await using agent = await startReady()
    await agent.send('tool touch refused')
    await agent.answer(await agent.waitForQuestion('permission'), 'No')
    await agent.waitForEnd('interrupted')
    await agent.waitForReady()
    await agent.send('tool touch refused-too')
    await agent.waitForQuestion('permission')
    await new Promise((resolve) => setTimeout(resolve, 500))
    await agent.press(provider.quirks.interrupt)
    await agent.waitForEnd('interrupted')
    await agent.waitForReady()
  })

  test('an answer in words of its own is given to a question', async () => {
    await using agent = await startReady()
    await agent.send('ask Which colour? | Red | Blue\nreply It said: {result}')
    await agent.answer(await agent.waitForQuestion('question'), 'a warm green')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ text: expect.stringContaining('a warm green') as unknown })
  })

  test('a fault of the model is told with its reason', async () => {
    await using agent = await startReady()
    await agent.send('error 400')
    await agent.waitForEnd('failed')
    expect(claimsOf(agent)).toContainEqual({
      kind: 'failed',
      reason: 'api_error',
      detail: 'API Error: 400 scripted error 400',
    })
    await agent.waitForReady()
  })

  test('takes us with a person who goes on in a new conversation', async () => {
    await using agent = await startReady()
    await agent.send('reply first')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    await agent.press([{ kind: 'text', text: '/clear' }])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await agent.press([{ kind: 'key', name: 'Enter' }])
    await agent.waitForSignal('another conversation', (signals) => new Set(idsOf(signals)).size === 2)
    await agent.waitForReady()
    await agent.send('reply second')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: 'second' })
  })
  const idsOf = (signals: readonly Signal[]) =>
    signals.flatMap((signal) => (signal.kind === 'bound' ? [signal.binding['vendorSessionId']] : []))
})

test("leaves the person's settings as they are", () => {
  expect(readFileSync(settings.path, 'utf8')).toBe(settings.text)
})
