/**
 * The copilot_cli provider with the real program in panes of the real tmux backend, against our scripted model on loopback: no
 * vendor, no key, no account.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
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
import { createCopilotProvider } from '../../src/providers/copilot_cli/copilot-provider.ts'
import { copilotVersion } from '../../src/providers/copilot_cli/install.ts'
import { RunningAgent } from '../../src/providers/running-agent.case.ts'
import { installLimitMs, requireProgram, requireRig } from './cli-rig.case.ts'
import { copilotEnv } from './copilot-program.case.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'cao-copilot-')))
const waiting = (limitMs = 20_000) => ({ signal: AbortSignal.timeout(limitMs) })
const stepLimitMs = 60_000
vi.setConfig({ testTimeout: 180_000 })
const asked: ModelRequest[] = []
let model: ScriptedModel | undefined
const clientEnv: Record<string, string> = {
  PATH: ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
  HOME: home,
  LANG: 'C.UTF-8',
  TMPDIR: home,
}

const rig = requireRig('copilot_cli')

beforeAll(async () => {
  clientEnv['PATH'] = [await requireProgram(rig, copilotVersion), clientEnv['PATH']].join(delimiter)
  model = await openScriptedModel({ clock: systemClock, port: 0, onRequest: (request) => asked.push(request) })
  Object.assign(clientEnv, copilotEnv(model.port))
}, installLimitMs)

afterAll(async () => {
  await model?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const provider = createCopilotProvider({ ownProgram: undefined })

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

describeProvider('copilot_cli', {
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

describe('Copilot CLI itself', () => {
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
    expect(prompt).toMatch(/^You are the GitHub Copilot CLI[^]*You are tested\./)
  })

  test('a turn is told once, with what it took and the words after its last step', async () => {
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
    const expected = { unicode: unicodeText, markdown: markdownText, 'long 200': longText(200) }[rule]
    expect(await agent.loadAnswer()).toMatchObject({ kind: 'exact', text: expected })
  })

  test('a prompt that is broken off before the first word is told of as interrupted', async () => {
    await using agent = await startReady()
    await agent.send('hang')
    await agent.waitForSignal('the prompt', (heard) => heard.some(({ kind }) => kind === 'accepted'))
    await agent.waitForReading('work', ({ claim }) => claim?.kind === 'busy')
    await agent.interrupt()
    await agent.waitForEnd('interrupted')
    await agent.waitForReady({ isClearing: true })
  })

  test.each([
    ['error 400', 'api_error', '400 scripted error 400'],
    ['say Half of\ncrash', 'api_error', 'Failed to get response'],
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

  test('a permission that is refused interrupts the turn', async () => {
    await using agent = await startReady()
    await agent.send('tool touch refused\nreply it was not to be')
    const question = await agent.waitForQuestion('permission')
    expect(question.text).toContain('touch refused')
    await agent.answer(question, 'no')
    await agent.waitForEnd('interrupted')
    await agent.waitForReady({ isClearing: true })
    expect(claimsOf(agent).filter(({ kind }) => kind === 'question_closed')).not.toEqual([])
  })

  test('an answer in words of its own is given to a question', async () => {
    await using agent = await startReady()
    await agent.send('ask Which colour? | Red | Blue\nreply It said: {result}')
    await agent.answer(await agent.waitForQuestion('question'), 'a warm green')
    await agent.waitForEnd('answered')
    expect(await agent.loadAnswer()).toMatchObject({ text: expect.stringContaining('a warm green') as unknown })
  })

  test("a sub-agent's words are not taken for the agent's own", async () => {
    await using agent = await startReady('allow')
    const task = { description: 'count', prompt: 'reply from the sub-agent', agent_type: 'task', name: 'counter' }
    await agent.send(`call task ${JSON.stringify(task)}\nsay It goes on.\nslow 12`)
    await agent.waitForEnd('answered')
    const answer = await agent.loadAnswer()
    expect(answer.kind === 'exact' ? answer.text : '').toMatch(/^It goes on\./)
    expect(claimsOf(agent).filter(({ kind }) => kind === 'turn_ended')).toHaveLength(1)
  })
})

test("keeps in the person's home what Copilot CLI itself keeps there, and nothing of ours", () => {
  const paths = readdirSync(join(home, '.copilot'), { recursive: true, encoding: 'utf8' })
  expect(
    paths.filter((path) => /^(?:mcp-config|settings|hooks|agents|instructions)/.test(path) && !path.endsWith('.lock')),
  ).toEqual([])
})
