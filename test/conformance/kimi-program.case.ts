/** A HOME as a person has it who uses Kimi Code with a model of their own. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The program talks to the scripted model and to nobody else. `port`: the model's. */
export function furnishKimi(home: string, port: number): { readonly path: string; readonly text: string } {
  const path = join(home, '.kimi-code', 'config.toml')
  mkdirSync(dirname(path), { recursive: true })
  const text = `default_model = "scripted"
telemetry = false

[providers.scripted]
type = "openai"
base_url = "http://127.0.0.1:${port}/v1"
api_key = "none"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 128000
capabilities = ["tool_use"]
`
  writeFileSync(path, text)
  return { path, text }
}

export const kimiEnv = { KIMI_DISABLE_TELEMETRY: '1' }
