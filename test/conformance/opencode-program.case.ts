/** The real OpenCode beside other programs: from npm at a pinned version into `.cache/`, with a scripted model as its provider. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installOpencode, opencodeVersion } from '../../src/providers/opencode_cli/install.ts'

const root = join(import.meta.dirname, '..', '..')
const dir = join(root, '.cache', 'clis', `opencode-${opencodeVersion}`)
const installLimitMs = 300_000

/** The path of the program. Errors: an Error that says why it could not be installed. */
export async function requireOpencode(): Promise<string> {
  mkdirSync(dirname(dir), { recursive: true })
  const installed = await installOpencode({ dir, npm: ['npm'] }, { signal: AbortSignal.timeout(installLimitMs) })
  if (installed.kind === 'failed') throw new Error(`OpenCode could not be installed: ${installed.why}`)
  return installed.program
}

/** What a person would have in their own configuration. */
export function furnishOpencode(home: string, port: number): void {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Scripted',
    options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'none' },
    models: { scripted: { name: 'Scripted Model', limit: { context: 128_000, output: 8_000 } } },
  }
  const model = 'scripted/scripted'
  const config = {
    model,
    small_model: model,
    share: 'disabled',
    enabled_providers: ['scripted'],
    provider: { scripted: provider },
  }
  mkdirSync(join(home, '.config', 'opencode'), { recursive: true })
  writeFileSync(join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify(config))
}
