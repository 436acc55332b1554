/**
 * What the tests of the real Qwen Code share: its program, from npm at a pinned version into `.cache/`; a scripted model on
 * loopback in the vendor's place; and a HOME as a person has it who uses an API key.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import { openScriptedModel, type ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import { installProgram } from '../../src/providers/npm-program.ts'
import { qwenPackage, qwenVersion } from '../../src/providers/qwen_cli/install.ts'

const root = join(import.meta.dirname, '..', '..')
export const installLimitMs = 300_000
/** The program is a script: our Node runs it, wherever the machine has another. */
export const pathWithNode = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)

/** The path of the program. Errors: an Error that says why it could not be installed. */
export async function requireQwen(): Promise<string> {
  const dir = join(root, '.cache', 'clis', `qwen-${qwenVersion}`)
  mkdirSync(dirname(dir), { recursive: true })
  const waiting = { signal: AbortSignal.timeout(installLimitMs) }
  const installed = await installProgram(qwenPackage, { dir, npm: ['npm'] }, waiting)
  if (installed.kind === 'failed') throw new Error(`Qwen Code could not be installed: ${installed.why}`)
  return installed.program
}

export function openModel(onRequest: (request: ModelRequest) => void = () => undefined): Promise<ScriptedModel> {
  return openScriptedModel({ clock: systemClock, port: 0, onRequest })
}

export const qwenEnv = (port: number): Readonly<Record<string, string>> => ({
  OPENAI_API_KEY: 'none',
  OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
  OPENAI_MODEL: 'scripted',
  QWEN_TELEMETRY_ENABLED: 'false',
  QWEN_USAGE_STATISTICS_ENABLED: 'false',
  NO_BROWSER: '1',
})

/** Their settings, with a comment in it, in the form of this version: Qwen Code itself rewrites older ones. What it would remember by asking the model behind a turn is off. */
export function furnishQwen(home: string): { readonly path: string; readonly text: string } {
  const path = join(home, '.qwen', 'settings.json')
  mkdirSync(dirname(path), { recursive: true })
  const text = `{
  // as I like it
  "security": { "auth": { "selectedType": "openai" } },
  "privacy": { "usageStatisticsEnabled": false },
  "telemetry": { "enabled": false },
  "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
  "$version": 4
}
`
  writeFileSync(path, text)
  return { path, text }
}
