/**
 * What the tests of the real Codex share: its program, from npm at a pinned version into `.cache/`; a scripted model on
 * loopback in the vendor's place; and a HOME as a person has it who uses a model of their own.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import { openScriptedModel, type ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import { codexVersion, installCodex } from '../../src/providers/codex/install.ts'

const root = join(import.meta.dirname, '..', '..')
export const codexDir = join(root, '.cache', 'clis', `codex-${codexVersion}`)
export const installLimitMs = 300_000

/** The path of the program. Errors: an Error that says why it could not be installed. */
export async function requireCodex(): Promise<string> {
  mkdirSync(dirname(codexDir), { recursive: true })
  const waiting = { signal: AbortSignal.timeout(installLimitMs) }
  const installed = await installCodex({ dir: codexDir, npm: ['npm'] }, waiting)
  if (installed.kind === 'failed') throw new Error(`Codex could not be installed: ${installed.why}`)
  return installed.program
}

export function openModel(onRequest: (request: ModelRequest) => void = () => undefined): Promise<ScriptedModel> {
  return openScriptedModel({ clock: systemClock, port: 0, onRequest })
}

/** The program talks to `model` and to nobody else; questions are a feature that Codex has off where nobody asks for it. */
export function furnishHome(
  home: string,
  model: Pick<ScriptedModel, 'port'>,
): { readonly path: string; readonly text: string } {
  const path = join(home, '.codex', 'config.toml')
  mkdirSync(dirname(path), { recursive: true })
  const text = `model = "scripted"
model_provider = "scripted"

[analytics]
enabled = false

[features]
default_mode_request_user_input = true
plugins = false
remote_plugin = false
apps = false

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:${model.port}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1
`
  writeFileSync(path, text)
  return { path, text }
}
