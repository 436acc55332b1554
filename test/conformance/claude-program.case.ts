/**
 * What the tests of the real Claude Code share: its program, from npm at a pinned version into `.cache/`; a scripted model
 * on loopback in the vendor's place; and a HOME as a person has it who has used the program before.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ModelRequest } from '../../src/agents/scripted-model/conversation.ts'
import { openScriptedModel, type ScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import { claudeVersion, installClaude } from '../../src/providers/claude_code/install.ts'

const root = join(import.meta.dirname, '..', '..')
export const claudeDir = join(root, '.cache', 'clis', `claude-${claudeVersion}`)
export const installLimitMs = 300_000

/** The path of the program. Errors: an Error that says why it could not be installed. */
export async function requireClaude(): Promise<string> {
  mkdirSync(dirname(claudeDir), { recursive: true })
  const waiting = { signal: AbortSignal.timeout(installLimitMs) }
  const installed = await installClaude({ dir: claudeDir, npm: ['npm'] }, waiting)
  if (installed.kind === 'failed') throw new Error(`Claude Code could not be installed: ${installed.why}`)
  return installed.program
}

export function openModel(onRequest: (request: ModelRequest) => void = () => undefined): Promise<ScriptedModel> {
  return openScriptedModel({ clock: systemClock, port: 0, onRequest })
}

/** The program talks to `model` and to nobody else. A token is taken without a question; a key would be asked about. */
export function claudeEnv(model: ScriptedModel): Readonly<Record<string, string>> {
  return { ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}`, ANTHROPIC_AUTH_TOKEN: 'none' }
}

/** The person's own settings, which CAO must leave as they are. Returns the path and the text of the file. */
export function furnishHome(home: string): { readonly path: string; readonly text: string } {
  writeFileSync(join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true }))
  const path = join(home, '.claude', 'settings.json')
  mkdirSync(dirname(path), { recursive: true })
  const text = JSON.stringify({ theme: 'dark', env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } })
  writeFileSync(path, text)
  return { path, text }
}
