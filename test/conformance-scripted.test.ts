/** The scripted provider with its real agent in panes of the real tmux backend. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/async/clock-system.ts'
import { createTmuxBackend } from '../src/backend/tmux/tmux-backend.ts'
import { silentLog } from '../src/lib/log.ts'
import { describeProvider } from '../src/providers/conformance.case.ts'
import { createScriptedProvider } from '../src/providers/scripted/scripted-provider.ts'

const agentEntry = join(import.meta.dirname, '..', 'src', 'main', 'scripted-agent.ts')
const home = mkdtempSync(join(tmpdir(), 'cao-scripted-'))
const waiting = () => ({ signal: AbortSignal.timeout(20_000) })

describeProvider('scripted', {
  provider: createScriptedProvider({ agentArgv: [process.execPath, agentEntry] }),
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
    rmSync(home, { recursive: true, force: true })
  },
  clientEnv: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' },
  messages: {
    reply: (text) => `reply ${text.replaceAll('\n', '\\n')}`,
    slow: 'slow 30',
    permission: 'tool echo allowed',
    question: { message: 'ask Which colour? | Red | Blue', text: 'Which colour?', options: ['Red', 'Blue'] },
    imitation: 'imitate',
  },
})
