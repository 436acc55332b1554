/**
 * The claude_code provider with the real program in panes of the real tmux backend, against our scripted model on loopback:
 * no vendor, no key, no account.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import { createTmuxBackend } from '../../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createClaudeProvider } from '../../src/providers/claude_code/claude-provider.ts'
import { claudeProgramIn } from '../../src/providers/claude_code/install.ts'
import { describeProvider } from '../../src/providers/conformance.case.ts'
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

describeProvider('claude_code', {
  provider: createClaudeProvider({ ownProgram: claudeProgramIn(claudeDir) }),
  async openBackend() {
    const backend = createTmuxBackend({
      clock: systemClock,
      log: silentLog,
      randomHex: (digits) => randomBytes(digits).toString('hex').slice(0, digits),
      runDir: join(home, 'run'),
      terminalsDir: join(home, 'terminals'),
      env: process.env,
      tempDir: home,
    })
    await backend.ensure(waiting())
    return backend
  },
  async closeBackend(backend) {
    await backend.shutdown(waiting())
    await backend[Symbol.asyncDispose]()
  },
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

test("leaves the person's settings as they are", () => {
  expect(readFileSync(settings.path, 'utf8')).toBe(settings.text)
})
