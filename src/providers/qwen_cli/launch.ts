/**
 * How Qwen Code is started: what is ours stands on its command line, in its environment and in a file of "system" settings below the
 * agent's private directory, for this run alone. The person's settings and login stay in force. Its records go to the private
 * directory, too, by which one agent's conversation is told from all others. Nothing of the person's is written by CAO.
 */
import { join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import type { McpServer } from '../../domain/profile.ts'
import { type Fields, fieldsOf, textOf } from '../fields.ts'
import { formatBinding, makeUuid, parseBinding } from '../gemini_family/binding.ts'
import { hasConversation } from '../gemini_family/chat-files.ts'
import { asksForTrust, loadTrust, readIfThere, readSettings } from '../gemini_family/own-settings.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { qwenChats } from './chat-record.ts'
import { planPermissions } from './permissions.ts'

export const mcpServerName = 'cao-mcp-server'
/** A tool of ours may wait for another agent's work. Units: ms. */
const mcpTimeoutMs = 6 * 60 * 60 * 1000
/** Linux takes no longer word on a command line. Units: bytes. */
const promptBytesMax = 100_000
const systemSettings = '/etc/qwen-code/settings.json'

/** `node`: runs the copy of the program that CAO installed, which is a script. */
export type QwenProgram = { readonly ownProgram: string | undefined; readonly node: string }

/** Reads the person's settings and looks for what the directory brings. Errors: VALIDATION for a prompt that is too long. */
export async function planQwenLaunch(request: LaunchRequest, own: QwenProgram): Promise<LaunchPlan> {
  const { clientEnv, profile, systemPrompt, model, cwd, privateDir } = request
  const configDir = clientEnv['QWEN_HOME'] ?? join(clientEnv['HOME'] ?? '', '.qwen')
  const settings = readSettings(await readIfThere(join(configDir, 'settings.json')))
  const permissions = planPermissions(profile, request.allowedTools, readOwnMode(settings))
  const recordsDir = join(privateDir, 'qwen')
  const former = request.resume === undefined ? undefined : parseBinding(request.resume)
  const formerId = former?.vendorSessionId
  // A conversation without a prompt can not be taken up.
  const resumed =
    formerId !== undefined && (await hasConversation(qwenChats(recordsDir), formerId)) ? formerId : undefined
  const vendorSessionId = resumed ?? makeUuid(request.randomHex)
  checkPrompt(systemPrompt, profile.name)
  const [mcp, overlay] = [join(privateDir, 'mcp.json'), join(privateDir, 'settings.json')]
  const trust = await planTrust({ settings, clientEnv, cwd, configDir })
  return {
    argv: [
      ...(request.program === own.ownProgram ? [own.node] : []),
      request.program,
      ...(resumed === undefined ? ['--session-id', vendorSessionId] : ['--resume', resumed]),
      ...(model === undefined ? [] : ['--model', model]),
      ...(permissions.mode === undefined ? [] : ['--approval-mode', permissions.mode]),
      ...(permissions.denied.length === 0 ? [] : ['--exclude-tools', permissions.denied.join(',')]),
      ...(systemPrompt === undefined ? [] : ['--append-system-prompt', systemPrompt]),
      '--mcp-config',
      mcp,
    ],
    env: {
      ...clientEnv,
      QWEN_RUNTIME_DIR: recordsDir,
      // What it remembers from one conversation to the next stays the person's.
      QWEN_CODE_MEMORY_BASE_DIR: clientEnv['QWEN_CODE_MEMORY_BASE_DIR'] ?? configDir,
      QWEN_CODE_SYSTEM_SETTINGS_PATH: overlay,
    },
    files: [
      { path: mcp, content: formatMcpConfig(request) },
      { path: overlay, content: await formatOverlay(clientEnv) },
    ],
    binding: formatBinding({
      recordsDir,
      vendorSessionId,
      offsets: resumed === undefined ? {} : (former?.offsets ?? {}),
    }),
    permissionMode: permissions.says,
    limitsNotEnforced: [...permissions.notEnforced, ...trust],
  }
}

function checkPrompt(prompt: string | undefined, name: string): void {
  if (Buffer.byteLength(prompt ?? '') <= promptBytesMax) return
  throw new AppError('VALIDATION', `the prompt of ${name} is longer than ${promptBytesMax} bytes`)
}

const readOwnMode = (settings: Fields): string | undefined => textOf(fieldsOf(settings, 'tools'), 'approvalMode')

type TrustCase = {
  readonly settings: Fields
  readonly clientEnv: Readonly<Record<string, string>>
  readonly cwd: string
  readonly configDir: string
}

/** Qwen Code asks by itself where the person has trust on. Said where that keeps CAO's tools away. */
async function planTrust({ settings, clientEnv, cwd, configDir }: TrustCase): Promise<readonly string[]> {
  if (!asksForTrust(settings, false)) return []
  const file = clientEnv['QWEN_CODE_TRUSTED_FOLDERS_PATH'] ?? join(configDir, 'trustedFolders.json')
  if ((await loadTrust(file, cwd)) !== 'refused') return []
  return [`${cwd} is not trusted in Qwen Code: it starts no MCP server there, CAO's neither`]
}

function formatMcpConfig({ profile, mcp }: LaunchRequest): string {
  const others = Object.entries(profile.mcpServers).map(([name, server]) => [name, toMcpEntry(server)])
  const [command, ...args] = mcp.argv
  // Offered to the model at once, and never asked for: an agent must be able to report at night.
  const own = { command, args, env: mcp.env, timeout: mcpTimeoutMs, trust: true, alwaysLoadTools: true }
  const mcpServers = { ...Object.fromEntries(others), ...(command === undefined ? {} : { [mcpServerName]: own }) }
  return JSON.stringify({ mcpServers }, undefined, 2)
}

function toMcpEntry({ timeoutMs, ...server }: McpServer): Readonly<Record<string, unknown>> {
  const limit = timeoutMs === undefined ? {} : { timeout: timeoutMs }
  if (!('url' in server)) return { ...server, ...limit }
  const { url, transport, headers } = server
  return { ...(transport === 'http' ? { httpUrl: url } : { url }), headers, ...limit }
}

/** Over the settings of the machine, whose place this file takes: no suggested prompt, which would look like a person's draft. */
async function formatOverlay(clientEnv: Readonly<Record<string, string>>): Promise<string> {
  const settings = readSettings(await readIfThere(clientEnv['QWEN_CODE_SYSTEM_SETTINGS_PATH'] ?? systemSettings))
  const ui = {
    ...fieldsOf(settings, 'ui'),
    enableFollowupSuggestions: false,
    hideWindowTitle: false,
    showStatusInTitle: true,
  }
  const general = { ...fieldsOf(settings, 'general'), enableAutoUpdate: false, vimMode: false }
  return JSON.stringify({ ...settings, ui, general }, undefined, 2)
}
