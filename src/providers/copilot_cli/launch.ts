/**
 * How Copilot CLI is started: its tool servers and the profile's prompt come from files of the terminal, named on the command
 * line and in its environment, for this run alone. Nothing is written into the person's configuration, and their login stays usable.
 */
import { join } from 'node:path'
import type { McpServer } from '../../domain/profile.ts'
import type { Binding } from '../../domain/terminal.ts'
import { argvOfProgram } from '../node-script.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { eventsPath, sizeOfEvents } from './event-file.ts'
import { planPermissions } from './permissions.ts'

/** Told as soon as a prompt is taken; the record is written when the model has begun to answer. */
export const promptHook = 'userPromptSubmitted'
export const mcpServerName = 'cao-mcp-server'
/** For the hook, which needs a few ms. Units: seconds. */
const hookTimeoutSeconds = 10
/** A tool of ours may wait for another agent's work. Units: ms. */
const mcpTimeoutMs = 6 * 60 * 60 * 1000

export type CopilotBinding = {
  /** Copilot's id of the conversation; ours to choose at the start. */
  readonly vendorSessionId: string
  /** Its configuration folder: the records of conversations are below it. */
  readonly configDir: string
  /** How much of its record was taken in. Units: bytes. */
  readonly eventsOffset: number
}

/** Looks whether there is something to resume. */
export async function planCopilotLaunch(request: LaunchRequest): Promise<LaunchPlan> {
  const { clientEnv, privateDir, profile, systemPrompt, model } = request
  const configDir = clientEnv['COPILOT_HOME'] ?? join(clientEnv['HOME'] ?? '', '.copilot')
  const former = request.resume === undefined ? undefined : parseBinding(request.resume)
  const vendorSessionId = former?.vendorSessionId ?? makeUuid(request.randomHex)
  // A conversation without a prompt left nothing to take up.
  const formerBytes = former === undefined ? 0 : await sizeOfEvents(eventsPath(former.configDir, vendorSessionId))
  const permissions = planPermissions(profile, request.allowedTools)
  const [mcp, plugin] = [join(privateDir, 'mcp.json'), join(privateDir, 'plugin')]
  const instructions = join(privateDir, 'instructions')
  const { native_agent: agent } = profile.extras
  return {
    argv: [
      ...(await argvOfProgram(request.program)),
      formerBytes > 0 ? `--resume=${vendorSessionId}` : `--session-id=${vendorSessionId}`,
      '--additional-mcp-config',
      `@${mcp}`,
      '--plugin-dir',
      plugin,
      ...permissions.flags,
      `--allow-tool=${mcpServerName}`,
      ...(permissions.excludedTools.length === 0 ? [] : [`--excluded-tools=${permissions.excludedTools.join(',')}`]),
      ...(model === undefined ? [] : ['--model', model]),
      ...(agent === undefined ? [] : ['--agent', agent]),
      '--no-auto-update',
    ],
    env: { ...clientEnv, ...(systemPrompt === undefined ? {} : nameInstructions(clientEnv, instructions)) },
    files: [
      { path: mcp, content: formatMcpConfig(request) },
      { path: join(plugin, 'plugin.json'), content: pluginHead },
      { path: join(plugin, 'hooks.json'), content: formatHooks(request.hookArgv) },
      ...(systemPrompt === undefined
        ? []
        : [{ path: join(instructions, 'cao.instructions.md'), content: formatInstructions(systemPrompt) }]),
    ],
    binding: { vendorSessionId, configDir, eventsOffset: formerBytes > 0 ? (former?.eventsOffset ?? 0) : 0 },
    permissionMode: permissions.says,
    limitsNotEnforced: permissions.notEnforced,
  }
}

/** undefined when `binding` is none of ours. */
export function parseBinding(binding: Binding): CopilotBinding | undefined {
  const { vendorSessionId, configDir, eventsOffset } = binding
  if (typeof vendorSessionId !== 'string' || typeof configDir !== 'string') return undefined
  return { vendorSessionId, configDir, eventsOffset: typeof eventsOffset === 'number' ? eventsOffset : 0 }
}

const pluginHead = JSON.stringify({ name: 'cao', version: '1.0.0', description: 'tells CAO', hooks: 'hooks.json' })
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

function formatHooks(hookArgv: readonly string[]): string {
  const bash = `${hookArgv.map(quote).join(' ')} ${promptHook}`
  const hooks = { [promptHook]: [{ type: 'command', bash, timeoutSec: hookTimeoutSeconds }] }
  return JSON.stringify({ version: 1, hooks }, undefined, 2)
}

const instructionsKey = 'COPILOT_CUSTOM_INSTRUCTIONS_DIRS'

function nameInstructions(env: Readonly<Record<string, string>>, dir: string): Readonly<Record<string, string>> {
  const own = env[instructionsKey] ?? ''
  return { [instructionsKey]: own === '' ? dir : `${own},${dir}` }
}

/** The head says for which files it counts; without it, it would be for none. */
const formatInstructions = (prompt: string): string => `---\napplyTo: "**"\n---\n${prompt}\n`

function formatMcpConfig({ profile, mcp }: LaunchRequest): string {
  const others = Object.entries(profile.mcpServers).map(([name, server]) => [name, toMcpEntry(server)])
  const [command = '', ...args] = mcp.argv
  const own = { type: 'local', command, args, env: mcp.env, tools: ['*'], timeout: mcpTimeoutMs }
  const mcpServers = { ...Object.fromEntries(others), ...(command === '' ? {} : { [mcpServerName]: own }) }
  return JSON.stringify({ mcpServers }, undefined, 2)
}

function toMcpEntry({ timeoutMs, ...server }: McpServer): Readonly<Record<string, unknown>> {
  const more = { tools: ['*'], ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }) }
  if (!('url' in server)) return { type: 'local', ...server, ...more }
  const { url, transport, headers } = server
  return { type: transport, url, headers, ...more }
}

/** A random UUID, version 4. Source: RFC 9562 section 5.4. */
function makeUuid(randomHex: (digits: number) => string): string {
  const variant = ((Number.parseInt(randomHex(1), 16) & 0b0011) | 0b1000).toString(16)
  return [randomHex(8), randomHex(4), `4${randomHex(3)}`, `${variant}${randomHex(3)}`, randomHex(12)].join('-')
}
