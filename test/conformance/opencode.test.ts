/**
 * The opencode provider with the real program in panes of the real tmux backend, against our scripted model on loopback:
 * no vendor, no key, no account. The program comes from npm at a pinned version into `.cache/`.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, vi } from 'vitest'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import { openScriptedModel, type ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import { createTmuxBackend } from '../../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../../src/lib/log.ts'
import { describeProvider } from '../../src/providers/conformance.case.ts'
import { installOpencode, opencodeProgramIn, opencodeVersion } from '../../src/providers/opencode_cli/install.ts'
import { createOpencodeProvider } from '../../src/providers/opencode_cli/opencode-provider.ts'

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

describeProvider('opencode_cli', {
  provider: createOpencodeProvider({ ownProgram: opencodeProgramIn(installDir) }),
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
  clientEnv: {
    PATH: ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  },
  stepLimitMs: 90_000,
  messages: {
    reply: (text) => `reply ${text.replaceAll('\n', '\\n')}`,
    slow: 'slow 30',
    permission: 'tool echo allowed',
    question: { message: 'ask Which colour? | Red | Blue', text: 'Which colour?', options: ['Red', 'Blue'] },
    imitation: 'imitate',
  },
})
