/**
 * How Codex is started: everything of ours stands on its command line, for this run alone. Nothing is written into the
 * person's configuration, which stays in force, and their login stays usable. Each runs without the shared daemon: that one
 * gives the MCP server of every pane the environment, and so the identity, of the first.
 */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import type { McpServer, Profile } from '../../domain/profile.ts'
import type { Binding } from '../../domain/terminal.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { formatToml } from '../toml.ts'
import { hasDecided, loadOwnSettings, loadSurroundings, readOwnMode } from './own-settings.ts'
import { planPermissions } from './permissions.ts'
import { findRollout } from './rollout-file.ts'

export const mcpServerName = 'cao-mcp-server'
/** A tool of ours may wait for another agent's work. Units: seconds. */
const mcpTimeoutSeconds = 6 * 60 * 60
const mcpStartSeconds = 60
/** Linux takes no longer word on a command line. Units: bytes. */
const promptBytesMax = 100_000

export type CodexBinding = {
  /** Its configuration folder: the records of conversations are below it. */
  readonly configDir: string
  /** Codex's id of the conversation, or as much of it as is known; undefined until the program told. */
  readonly vendorSessionId: string | undefined
  /** How much of its record was taken in. Units: bytes. */
  readonly rolloutOffset: number
}

/** Reads the person's settings and looks for what the directory brings. Errors: VALIDATION for a prompt that is too long. */
export async function planCodexLaunch(request: LaunchRequest): Promise<LaunchPlan> {
  const { clientEnv, profile, systemPrompt, model, cwd } = request
  const configDir = clientEnv['CODEX_HOME'] ?? join(clientEnv['HOME'] ?? '', '.codex')
  const former = request.resume === undefined ? undefined : parseBinding(request.resume)
  const settings = await loadOwnSettings(configDir)
  const permissions = planPermissions(profile, request.allowedTools, readOwnMode(settings))
  const resumed = await findResumable(former)
  if (Buffer.byteLength(systemPrompt ?? '') > promptBytesMax) {
    throw new AppError('VALIDATION', `the prompt of ${profile.name} is longer than ${promptBytesMax} bytes`)
  }
  const { codexProfile } = profile.extras
  return {
    argv: [
      request.program,
      '--no-daemon',
      ...(resumed === undefined ? [] : ['resume', resumed]),
      ...(codexProfile === undefined ? [] : ['--profile', codexProfile]),
      ...(model === undefined ? [] : ['--model', model]),
      ...permissions.flags,
      ...planConfig(profile),
      ...set('check_for_update_on_startup', false),
      // What it shows beside its work, so that it can be read: state and conversation in the title, one line at the bottom.
      ...set('tui.terminal_title', ['activity', 'run-state', 'thread-title', 'project-name', 'thread-id']),
      ...set('tui.status_line', ['model-with-reasoning', 'current-dir']),
      ...(systemPrompt === undefined ? [] : set('developer_instructions', systemPrompt)),
      ...planMcp(request),
      ...(await planTrust(cwd, configDir, settings)),
    ],
    env: clientEnv,
    files: [],
    binding: {
      configDir,
      vendorSessionId: resumed ?? null,
      rolloutOffset: resumed === undefined ? 0 : (former?.rolloutOffset ?? 0),
    },
    permissionMode: permissions.says,
    limitsNotEnforced: [...permissions.notEnforced, ...listUnservedServers(request)],
  }
}

/** undefined when `binding` is none of ours. */
export function parseBinding(binding: Binding): CodexBinding | undefined {
  const { configDir, vendorSessionId, rolloutOffset } = binding
  if (typeof configDir !== 'string') return undefined
  return {
    configDir,
    vendorSessionId: typeof vendorSessionId === 'string' ? vendorSessionId : undefined,
    rolloutOffset: typeof rolloutOffset === 'number' ? rolloutOffset : 0,
  }
}

const set = (key: string, value: unknown): readonly string[] => ['-c', `${key}=${formatToml(value)}`]

const keyPattern = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** Errors: VALIDATION for a key that can not stand on a command line. */
function planConfig({ name, extras }: Profile): readonly string[] {
  return Object.entries(extras.codexConfig ?? {}).flatMap(([key, value]) => {
    if (!keyPattern.test(key)) throw new AppError('VALIDATION', `codexConfig of ${name}: "${key}" is no plain key`)
    return set(key, value)
  })
}

/** A conversation without a prompt left no record to take up. */
async function findResumable(former: CodexBinding | undefined): Promise<string | undefined> {
  if (former?.vendorSessionId === undefined) return undefined
  return (await findRollout(former.configDir, former.vendorSessionId))?.sessionId
}

function planMcp({ profile, mcp }: LaunchRequest): readonly string[] {
  const others = Object.entries(profile.mcpServers).flatMap(([name, server]) =>
    isServed(name, server) ? set(`mcp_servers.${name}`, toMcpEntry(server)) : [],
  )
  const [command, ...args] = mcp.argv
  if (command === undefined) return others
  const own = {
    command,
    args,
    env: mcp.env,
    // An agent must be able to report at night.
    default_tools_approval_mode: 'approve',
    startup_timeout_sec: mcpStartSeconds,
    tool_timeout_sec: mcpTimeoutSeconds,
  }
  return [...others, ...set(`mcp_servers.${mcpServerName}`, own)]
}

/** Codex speaks no SSE; a name that is no plain key can not be written on its command line. */
const isServed = (name: string, server: McpServer): boolean =>
  /^[A-Za-z0-9_-]+$/.test(name) && (!('url' in server) || server.transport === 'http')

function listUnservedServers({ profile }: LaunchRequest): readonly string[] {
  const unserved = Object.entries(profile.mcpServers).filter(([name, server]) => !isServed(name, server))
  return unserved.map(
    ([name]) => `MCP server ${name}: Codex knows neither SSE nor names with other than letters, digits, _ and -`,
  )
}

function toMcpEntry(server: McpServer): Readonly<Record<string, unknown>> {
  const limit = server.timeoutMs === undefined ? {} : { tool_timeout_sec: server.timeoutMs / 1000 }
  if ('url' in server) return { url: server.url, http_headers: server.headers, ...limit }
  return { command: server.command, args: server.args, env: server.env, ...limit }
}

/**
 * The person named the directory, so it is trusted, for this run. Where it brings settings of its own, which could run
 * programs, or where they have decided already, nothing is said here: Codex asks, or does as they decided.
 */
async function planTrust(cwd: string, configDir: string, settings: string): Promise<readonly string[]> {
  const { directories, hasSettings } = await loadSurroundings(cwd, configDir)
  if (hasSettings || hasDecided(settings, directories)) return []
  const trusted = { trust_level: 'trusted' }
  return set('projects', { [cwd]: trusted, [await resolve(cwd)]: trusted })
}

/** Without symbolic links, as the program names a directory. */
async function resolve(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return path
    throw error
  }
}
