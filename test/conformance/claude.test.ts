/**
 * The claude_code provider with the real program in panes of the real tmux backend, against our scripted model on loopback:
 * no vendor, no key, no account. The program comes from npm at a pinned version into `.cache/`.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, vi } from 'vitest'
import { openScriptedModel, type ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import { createTmuxBackend } from '../../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createClaudeProvider } from '../../src/providers/claude_code/claude-provider.ts'
import { claudeProgramIn, claudeVersion, installClaude } from '../../src/providers/claude_code/install.ts'
import { describeProvider } from '../../src/providers/conformance.case.ts'

const root = join(import.meta.dirname, '..', '..')
const installDir = join(root, '.cache', 'clis', `claude-${claudeVersion}`)
const installLimitMs = 300_000
const home = realpathSync(mkdtempSync(join(tmpdir(), 'cao-claude-')))
const waiting = (limitMs = 20_000) => ({ signal: AbortSignal.timeout(limitMs) })
/** A program of 384 MB starts slowly on a busy machine. */
const stepLimitMs = 60_000
vi.setConfig({ testTimeout: 180_000 })
let model: ScriptedModel | undefined
const clientEnv: Record<string, string> = {
  PATH: ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
  HOME: home,
  LANG: 'C.UTF-8',
  TMPDIR: home,
  // A token is taken without a question; the program does not ask whose it is.
  ANTHROPIC_AUTH_TOKEN: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
}

beforeAll(async () => {
  mkdirSync(dirname(installDir), { recursive: true })
  const installed = await installClaude({ dir: installDir, npm: ['npm'] }, waiting(installLimitMs))
  if (installed.kind === 'failed') throw new Error(`Claude Code could not be installed: ${installed.why}`)
  model = await openScriptedModel({ clock: systemClock, port: 0 })
  clientEnv['ANTHROPIC_BASE_URL'] = `http://127.0.0.1:${model.port}`
  // What a person has who has used the program before.
  writeFileSync(join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true }))
}, installLimitMs)

afterAll(async () => {
  await model?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

describeProvider('claude_code', {
  provider: createClaudeProvider({ ownProgram: claudeProgramIn(installDir) }),
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
