/**
 * The opencode provider with the real program in panes of the real tmux backend, against our scripted model on loopback:
 * no vendor, no key, no account. The program comes from npm at a pinned version into `.cache/`.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import { openScriptedModel, type ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import type { TerminalBackend } from '../../src/backend/backend.ts'
import { createTmuxBackend } from '../../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../../src/lib/log.ts'
import { describeProvider } from '../../src/providers/conformance.case.ts'
import { installOpencode, opencodeProgramIn, opencodeVersion } from '../../src/providers/opencode_cli/install.ts'
import { createOpencodeProvider } from '../../src/providers/opencode_cli/opencode-provider.ts'
import { RunningAgent } from '../../src/providers/running-agent.case.ts'

const root = join(import.meta.dirname, '..', '..')
const installDir = join(root, '.cache', 'clis', `opencode-${opencodeVersion}`)
const installLimitMs = 300_000
// The program takes seconds to start, more where others work beside it.
vi.setConfig({ testTimeout: 240_000 })
const home = mkdtempSync(join(tmpdir(), 'cao-opencode-'))
const waiting = (limitMs = 20_000) => ({ signal: AbortSignal.timeout(limitMs) })
const asked: ModelRequest[] = []
let model: ScriptedModel | undefined

beforeAll(async () => {
  mkdirSync(dirname(installDir), { recursive: true })
  const installed = await installOpencode({ dir: installDir, npm: ['npm'] }, waiting(installLimitMs))
  if (installed.kind === 'failed') throw new Error(`opencode could not be installed: ${installed.why}`)
  model = await openScriptedModel({ clock: systemClock, port: 0, onRequest: (request) => asked.push(request) })
  writeConfig(model.port)
}, installLimitMs)

afterAll(async () => {
  await model?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

/** What a person would have in their own configuration: a provider, and that shell commands are asked for. */
function writeConfig(port: number): void {
  const dir = join(home, '.config', 'opencode')
  mkdirSync(dir, { recursive: true })
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Scripted',
    options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'none' },
    models: { scripted: { name: 'Scripted Model', limit: { context: 128_000, output: 8_000 } } },
  }
  const config = {
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    share: 'disabled',
    enabled_providers: ['scripted'],
    provider: { scripted: provider },
    permission: { bash: 'ask' },
  }
  writeFileSync(join(dir, 'opencode.json'), JSON.stringify(config))
}

const provider = createOpencodeProvider({ ownProgram: opencodeProgramIn(installDir) })
const stepLimitMs = 90_000
const clientEnv = {
  PATH: ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
  HOME: home,
  TMPDIR: home,
  LANG: 'C.UTF-8',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
}

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

describeProvider('opencode_cli', {
  provider,
  openBackend: () => openBackend('suite'),
  closeBackend,
  clientEnv,
  stepLimitMs,
  messages: {
    reply: (text) => `reply ${text.replaceAll('\n', '\\n')}`,
    slow: 'slow 30',
    permission: 'tool echo allowed',
    question: { message: 'ask Which colour? | Red | Blue', text: 'Which colour?', options: ['Red', 'Blue'] },
    imitation: 'imitate',
  },
})

describe('opencode 1.18.33 itself', () => {
  let backend: TerminalBackend
  beforeAll(async () => {
    backend = await openBackend('itself')
  })
  afterAll(() => closeBackend(backend))

  async function startReady(): Promise<RunningAgent> {
    const agent = await RunningAgent.start({ provider, backend, clientEnv, size: { cols: 200, rows: 50 }, stepLimitMs })
    await agent.waitForReady()
    return agent
  }

  test("gives the model the profile's prompt", async () => {
    await using agent = await startReady()
    await agent.send('reply seen')
    await agent.waitForEnd('answered')
    const withTools = asked.filter((request) => request.tools.length > 0).at(-1)
    expect(withTools?.systemPrompt).toContain('You are tested.')
  })

  test('lets nobody in at its port, which every local user can reach, without its password', async () => {
    await using agent = await startReady()
    const port = agent.binding['port']
    const ask = (path: string, method: string, headers = {}) =>
      fetch(`http://127.0.0.1:${String(port)}${path}`, { method, headers }).then(({ status }) => status)
    const wrong = { authorization: `Basic ${Buffer.from('opencode:wrong').toString('base64')}` }
    const answers = [
      await ask('/session', 'GET'),
      await ask('/event', 'GET'),
      await ask('/session', 'POST'),
      await ask('/config', 'GET'),
      await ask('/session', 'GET', wrong),
    ]
    expect(answers).toEqual([401, 401, 401, 401, 401])
  })

  test('refuses and allows for good as asked', async () => {
    await using agent = await startReady()
    await agent.send('tool echo refused')
    await agent.answer(await agent.waitForQuestion('permission'), 'Reject')
    await agent.waitForEnd('interrupted')
    await agent.waitForReady()

    await agent.send('tool echo for good')
    await agent.answer(await agent.waitForQuestion('permission'), 'Allow always')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    await agent.send('tool echo for good again\nreply not asked: {result}')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ text: 'not asked: for good again\n' })
  })

  test('takes an answer of several parts, with several choices and words of our own, by its API', async () => {
    await using agent = await startReady()
    const questions = [
      {
        question: 'Which colours?',
        header: 'Colours',
        multiple: true,
        options: ['Red', 'Blue', 'Green'].map((label) => ({ label, description: label })),
      },
      { question: 'Why?', header: 'Why', options: [{ label: 'No reason', description: 'none' }] },
    ]
    await agent.send(`call question ${JSON.stringify({ questions })}\nreply heard: {result}`)
    const question = await agent.waitForQuestion('question')
    expect(await agent.answerByChannel(question, 'Red')).toMatchObject({ kind: 'refused' })
    expect(await agent.answerByChannel(question, 'Red, 3\nBecause of the sky')).toEqual({ kind: 'given' })
    await agent.waitForEnd('answered')
    const answer = await agent.loadAnswer()
    expect(answer.kind === 'exact' ? answer.text : '').toMatch(/Red.*Green.*Because of the sky/s)
    expect(await agent.answerByChannel(question, 'Red\nlate'), 'it is closed').toEqual({ kind: 'not offered' })
  })

  test('takes us with a person who goes on in a new session', async () => {
    await using agent = await startReady()
    await agent.send('reply first')
    await agent.waitForEnd('answered')
    await agent.waitForReady()
    await agent.press([{ kind: 'text', text: '/new' }])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await agent.press([{ kind: 'key', name: 'Enter' }])
    await agent.waitForReading('the home view', (reading) => reading.rule === 'home')
    await agent.send('reply second')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: 'second' })
    const bound = agent.heard.flatMap((signal) => (signal.kind === 'bound' ? [signal.binding['vendorSessionId']] : []))
    expect(new Set(bound).size).toBe(2)
  })
})
