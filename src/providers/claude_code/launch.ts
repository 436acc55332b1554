/**
 * How Claude Code is started: hooks, tools and prompt come from files of the terminal, named on the command line. Nothing
 * is written into the person's configuration, and their login stays usable.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { McpServer, ProfileExtras } from '../../domain/profile.ts'
import type { Binding } from '../../domain/terminal.ts'
import { fieldsOf, parseFields, textOf } from '../fields.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { hookNames } from './hook-events.ts'
import { type PermissionPlan, planPermissions } from './permissions.ts'
import { findTranscript } from './transcript.ts'

export const mcpServerName = 'cao-mcp-server'
/** A tool of ours may wait for another agent's work. Units: ms. */
const mcpTimeoutMs = 6 * 60 * 60 * 1000
const mcpStartMs = 60_000
/** For the hook, which needs a few ms. Units: seconds. */
const hookTimeoutSeconds = 10

export type ClaudeBinding = {
  /** Claude Code's id of the conversation; ours to choose at the start. */
  readonly vendorSessionId: string
  /** Its configuration folder: status files and transcripts are below it. */
  readonly configDir: string
  /** undefined until a hook told. */
  readonly transcript: string | undefined
}

/** Reads the person's settings for the permission mode that they name, and looks whether there is something to resume. */
export async function planClaudeLaunch(request: LaunchRequest): Promise<LaunchPlan> {
  const { clientEnv, privateDir, profile, systemPrompt, model } = request
  const configDir = clientEnv['CLAUDE_CONFIG_DIR'] ?? join(clientEnv['HOME'] ?? '', '.claude')
  const former = request.resume === undefined ? undefined : parseBinding(request.resume)
  const vendorSessionId = former?.vendorSessionId ?? makeUuid(request.randomHex)
  // A conversation without a prompt left nothing to take up.
  const isThere = former !== undefined && (await findTranscript(former.configDir, vendorSessionId)) !== undefined
  const permissions = planPermissions(profile, request.allowedTools, await findOwnMode(configDir, request.cwd))
  const file = (name: string) => join(privateDir, name)
  const [settings, mcp, prompt] = [file('settings.json'), file('mcp.json'), file('system-prompt.md')]
  return {
    argv: [
      request.program,
      '--settings',
      settings,
      '--strict-mcp-config',
      '--mcp-config',
      mcp,
      ...permissionFlags(permissions),
      ...(systemPrompt === undefined ? [] : ['--append-system-prompt-file', prompt]),
      ...(model === undefined ? [] : ['--model', model]),
      ...extraFlags(profile.extras),
      isThere ? '--resume' : '--session-id',
      vendorSessionId,
    ],
    env: {
      ...clientEnv,
      DISABLE_AUTOUPDATER: '1',
      // A suggested next prompt looks like a person's draft.
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
      // Else a call of more than two minutes ends the turn and goes on behind it.
      CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: '0',
      MCP_TIMEOUT: String(mcpStartMs),
    },
    files: [
      { path: settings, content: formatSettings(request.hookArgv) },
      { path: mcp, content: formatMcpConfig(request) },
      ...(systemPrompt === undefined ? [] : [{ path: prompt, content: systemPrompt }]),
    ],
    binding: { vendorSessionId, configDir, transcript: isThere ? (former?.transcript ?? null) : null },
    permissionMode: permissions.says,
    limitsNotEnforced: permissions.notEnforced,
  }
}

/** undefined when `binding` is none of ours. */
export function parseBinding(binding: Binding): ClaudeBinding | undefined {
  const { vendorSessionId, configDir, transcript } = binding
  if (typeof vendorSessionId !== 'string' || typeof configDir !== 'string') return undefined
  return { vendorSessionId, configDir, transcript: typeof transcript === 'string' ? transcript : undefined }
}

/** Lists go in one word each: the program takes every word that follows for one more of the list. */
function permissionFlags({ mode, denied }: PermissionPlan): readonly string[] {
  return [
    '--allowedTools',
    `mcp__${mcpServerName}__*`,
    ...(denied.length === 0 ? [] : ['--disallowedTools', denied.join(',')]),
    ...(mode === undefined ? [] : ['--permission-mode', mode]),
  ]
}

/** What a profile says to Claude Code alone. */
function extraFlags({ claudeConfig, native_agent: agent }: ProfileExtras): readonly string[] {
  const { effort, fallbackModel } = claudeConfig ?? {}
  return [
    ...(effort === undefined ? [] : ['--effort', effort]),
    ...(fallbackModel === undefined ? [] : ['--fallback-model', fallbackModel]),
    ...(agent === undefined ? [] : ['--agent', agent]),
  ]
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

function formatSettings(hookArgv: readonly string[]): string {
  const command = hookArgv.map(quote).join(' ')
  const hook = (name: string) => ({ type: 'command', command: `${command} ${name}`, timeout: hookTimeoutSeconds })
  const hooks = Object.fromEntries(hookNames.map((name) => [name, [{ hooks: [hook(name)] }]]))
  return JSON.stringify({ hooks }, undefined, 2)
}

function formatMcpConfig({ profile, mcp }: LaunchRequest): string {
  const others = Object.entries(profile.mcpServers).map(([name, server]) => [name, toMcpEntry(server)])
  const [command = '', ...args] = mcp.argv
  // Tools of other servers are only named to the model, which must look them up before it can call them.
  const own = { type: 'stdio', command, args, env: mcp.env, alwaysLoad: true, timeout: mcpTimeoutMs }
  const mcpServers = { ...Object.fromEntries(others), ...(command === '' ? {} : { [mcpServerName]: own }) }
  return JSON.stringify({ mcpServers }, undefined, 2)
}

function toMcpEntry({ timeoutMs, ...server }: McpServer): Readonly<Record<string, unknown>> {
  const limit = timeoutMs === undefined ? {} : { timeout: timeoutMs }
  if (!('url' in server)) return { type: 'stdio', ...server, ...limit }
  const { url, transport, headers } = server
  return { type: transport, url, headers, ...limit }
}

/** A random UUID, version 4. Source: RFC 9562 section 5.4. */
function makeUuid(randomHex: (digits: number) => string): string {
  const variant = ((Number.parseInt(randomHex(1), 16) & 0b0011) | 0b1000).toString(16)
  return [randomHex(8), randomHex(4), `4${randomHex(3)}`, `${variant}${randomHex(3)}`, randomHex(12)].join('-')
}

/** The default mode that the settings name, the nearest first. */
async function findOwnMode(configDir: string, cwd: string): Promise<string | undefined> {
  const project = join(cwd, '.claude')
  const files = [join(project, 'settings.local.json'), join(project, 'settings.json'), join(configDir, 'settings.json')]
  for (const path of files) {
    const fields = parseFields(await readIfThere(path))
    const mode = fields === undefined ? undefined : textOf(fieldsOf(fields, 'permissions'), 'defaultMode')
    if (mode !== undefined) return mode
  }
  return undefined
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}
