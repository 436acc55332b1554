/**
 * How opencode is started: everything of ours is in its environment and in files of the terminal, nothing is written
 * into the person's configuration, and their login stays usable. `OPENCODE_CONFIG_CONTENT` is merged over the person's
 * and the project's files. Pure.
 */
import { join } from 'node:path'
import type { McpServer } from '../../domain/profile.ts'
import type { Binding } from '../../domain/terminal.ts'
import { assert } from '../../lib/assert.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { planPermissions } from './permissions.ts'

export const mcpServerName = 'cao-mcp-server'
export const serverUser = 'cao'
/** A tool of ours may wait for another agent's work. Units: ms. */
const mcpTimeoutMs = 6 * 60 * 60 * 1000
const passwordDigits = 48

export type OpencodeBinding = {
  /** Of the program's own HTTP server, on 127.0.0.1. */
  readonly port: number
  /** File that holds its password. */
  readonly passwordFile: string
  /** opencode's id of the conversation; undefined until one is made. */
  readonly vendorSessionId: string | undefined
}

export function planOpencodeLaunch(request: LaunchRequest): LaunchPlan {
  const { profile, port, resume } = request
  assert(port !== undefined, 'opencode is launched with a port')
  const password = request.randomHex(passwordDigits)
  const passwordFile = join(request.privateDir, 'server-password')
  const promptFile = join(request.privateDir, 'system-prompt.md')
  const vendorSessionId = resume?.['vendorSessionId'] ?? null
  const permissions = planPermissions(profile, request.allowedTools, `${mcpServerName}_`)
  const agent = `cao-${profile.name}`
  const argv = [
    request.program,
    '--port',
    String(port),
    '--agent',
    agent,
    ...(request.model === undefined ? [] : ['--model', request.model]),
    ...(typeof vendorSessionId === 'string' ? ['--session', vendorSessionId] : []),
  ]
  const prompt = request.systemPrompt
  const config = {
    autoupdate: false,
    default_agent: agent,
    agent: {
      [agent]: {
        mode: 'primary',
        description: `CAO profile ${profile.name}`,
        ...(prompt === undefined ? {} : { prompt: `{file:${promptFile}}` }),
        permission: permissions.map,
      },
    },
    // The person can switch to another agent with one key; the limits hold there, too.
    permission: permissions.map,
    mcp: planMcp(request),
  }
  return {
    argv,
    env: {
      ...request.clientEnv,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      OPENCODE_SERVER_USERNAME: serverUser,
      OPENCODE_SERVER_PASSWORD: password,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
    files: [
      { path: passwordFile, content: password },
      ...(prompt === undefined ? [] : [{ path: promptFile, content: prompt }]),
    ],
    binding: { port, passwordFile, vendorSessionId },
    permissionMode: permissions.mode,
    limitsNotEnforced: permissions.notEnforced,
  }
}

type McpEntry = { readonly enabled: true; readonly timeout?: number } & (
  | {
      readonly type: 'local'
      readonly command: readonly string[]
      readonly environment: Readonly<Record<string, string>>
    }
  | { readonly type: 'remote'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
)

function planMcp({ profile, mcp }: LaunchRequest): Readonly<Record<string, McpEntry>> {
  const others = Object.entries(profile.mcpServers).map(([name, one]): [string, McpEntry] => [name, toMcpEntry(one)])
  const own: McpEntry = {
    type: 'local',
    command: mcp.argv,
    environment: mcp.env,
    enabled: true,
    timeout: mcpTimeoutMs,
  }
  return { ...Object.fromEntries(others), ...(mcp.argv.length === 0 ? {} : { [mcpServerName]: own }) }
}

function toMcpEntry(server: McpServer): McpEntry {
  const limit = server.timeoutMs === undefined ? {} : { timeout: server.timeoutMs }
  // It finds out by itself which of the two transports a server speaks.
  if ('url' in server) return { type: 'remote', url: server.url, headers: server.headers, enabled: true, ...limit }
  const { command, args, env } = server
  return { type: 'local', command: [command, ...args], environment: env, enabled: true, ...limit }
}

/** undefined when `binding` is none of ours. */
export function parseBinding(binding: Binding): OpencodeBinding | undefined {
  const { port, passwordFile, vendorSessionId } = binding
  if (typeof port !== 'number' || typeof passwordFile !== 'string') return undefined
  return { port, passwordFile, vendorSessionId: typeof vendorSessionId === 'string' ? vendorSessionId : undefined }
}
