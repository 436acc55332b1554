/**
 * How Kimi Code is started. It reads settings and tool servers from its home alone, so each terminal has a home of its own
 * that holds the person's settings with ours added, and links to everything else of theirs: login, conversations, trust.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import type { McpServer } from '../../domain/profile.ts'
import type { Binding } from '../../domain/terminal.ts'
import { fieldsOf, parseFields } from '../fields.ts'
import { argvOfProgram } from '../node-script.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { hookMatchers, hookNames } from './hook-events.ts'
import { addToConfig, readOwnMode } from './own-config.ts'
import { planPermissions } from './permissions.ts'
import { findWire } from './wire-file.ts'

export const mcpServerName = 'cao-mcp-server'
/** A tool of ours may wait for another agent's work. Units: ms. */
const mcpTimeoutMs = 6 * 60 * 60 * 1000
const mcpStartMs = 60_000
/** For the hook, which needs a few ms. Units: seconds. */
const hookTimeoutSeconds = 10

/** Made for the terminal, not linked: ours, and what each program fills for itself. */
const ownEntries: ReadonlySet<string> = new Set([
  'config.toml',
  'mcp.json',
  'SYSTEM.md',
  'cache',
  'logs',
  'server',
  'telemetry',
  'updates',
])
/** The person's also where the program has not made them yet. */
const keptFolders = ['sessions', 'credentials', 'workspace-trust']

export type KimiBinding = {
  /** The person's home of Kimi Code: the records of conversations are below it. */
  readonly homeDir: string
  /** undefined until a hook told; there is none before the first prompt. */
  readonly vendorSessionId: string | undefined
}

/** Reads the person's settings, and looks whether there is something to resume. Errors: VALIDATION for settings that are no JSON. */
export async function planKimiLaunch(request: LaunchRequest): Promise<LaunchPlan> {
  const { clientEnv, privateDir, profile, model } = request
  const homeDir = clientEnv['KIMI_CODE_HOME'] ?? join(clientEnv['HOME'] ?? '', '.kimi-code')
  const home = join(privateDir, 'kimi-home')
  const ownConfig = await readIfThere(join(homeDir, 'config.toml'))
  const permissions = planPermissions(profile, request.allowedTools, readOwnMode(ownConfig))
  const resumed = await findResumable(request.resume)
  const config = addToConfig(ownConfig, {
    permissionMode: permissions.mode,
    disabledTools: permissions.disabledTools,
    hooks: planHooks(request.hookArgv),
  })
  const mcp = await planMcp(request, join(homeDir, 'mcp.json'))
  const prompt = await planPrompt(request.systemPrompt, join(homeDir, 'SYSTEM.md'))
  return {
    argv: [
      ...(await argvOfProgram(request.program)),
      ...(resumed === undefined ? [] : ['--session', resumed]),
      ...(model === undefined ? [] : ['--model', model]),
      ...(permissions.isPlanning ? ['--plan'] : []),
    ],
    env: { ...clientEnv, KIMI_CODE_HOME: home, KIMI_CODE_NO_AUTO_UPDATE: '1' },
    links: await planLinks(homeDir, home),
    files: [
      { path: join(home, 'config.toml'), content: config },
      { path: join(home, 'mcp.json'), content: mcp },
      ...(prompt === undefined ? [] : [{ path: join(home, 'SYSTEM.md'), content: prompt }]),
    ],
    binding: { homeDir, vendorSessionId: resumed ?? null },
    permissionMode: permissions.says,
    limitsNotEnforced: permissions.notEnforced,
  }
}

/** undefined when `binding` is none of ours. */
export function parseBinding(binding: Binding): KimiBinding | undefined {
  const { homeDir, vendorSessionId } = binding
  if (typeof homeDir !== 'string') return undefined
  return { homeDir, vendorSessionId: typeof vendorSessionId === 'string' ? vendorSessionId : undefined }
}

/** A conversation without a prompt left no record to take up. */
async function findResumable(resume: Binding | undefined): Promise<string | undefined> {
  const former = resume === undefined ? undefined : parseBinding(resume)
  if (former?.vendorSessionId === undefined) return undefined
  const wire = await findWire(former.homeDir, former.vendorSessionId)
  return wire === undefined ? undefined : former.vendorSessionId
}

async function planLinks(homeDir: string, home: string): Promise<NonNullable<LaunchPlan['links']>> {
  const others = (await listFolder(homeDir)).filter((name) => !ownEntries.has(name) && !keptFolders.includes(name))
  const link = (name: string) => ({ path: join(home, name), target: join(homeDir, name) })
  return [...keptFolders.map((name) => ({ ...link(name), isFolder: true as const })), ...others.map(link)]
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

function planHooks(hookArgv: readonly string[]) {
  const command = hookArgv.map(quote).join(' ')
  return hookNames.map((event) => {
    const matcher = hookMatchers[event]
    const hook = { event, command: `${command} ${event}`, timeout: hookTimeoutSeconds }
    return matcher === undefined ? hook : { ...hook, matcher }
  })
}

/** The person's own prompt file goes on to stand before the profile's text. */
async function planPrompt(systemPrompt: string | undefined, ownPath: string): Promise<string | undefined> {
  const own = await readIfThere(ownPath)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Kimi Code puts its own prompt in its place
  const base = own.trim() === '' ? '${base_prompt}' : own
  if (systemPrompt === undefined) return own === '' ? undefined : own
  return `${base}\n\n${systemPrompt}\n`
}

/** The servers of the person, of the profile, and ours. */
async function planMcp({ profile, mcp }: LaunchRequest, ownPath: string): Promise<string> {
  const text = await readIfThere(ownPath)
  const own = parseFields(text)
  if (own === undefined && text.trim() !== '') throw new AppError('VALIDATION', `${ownPath} is no JSON`)
  const others = Object.entries(profile.mcpServers).map(([name, server]) => [name, toMcpEntry(server)])
  const [command = '', ...args] = mcp.argv
  const ours = { command, args, env: mcp.env, startupTimeoutMs: mcpStartMs, toolTimeoutMs: mcpTimeoutMs }
  const mcpServers = {
    ...fieldsOf(own ?? {}, 'mcpServers'),
    ...Object.fromEntries(others),
    ...(command === '' ? {} : { [mcpServerName]: ours }),
  }
  return JSON.stringify({ ...own, mcpServers }, undefined, 2)
}

function toMcpEntry({ timeoutMs, ...server }: McpServer): Readonly<Record<string, unknown>> {
  const limit = timeoutMs === undefined ? {} : { toolTimeoutMs: timeoutMs }
  return { ...server, ...limit }
}

async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}
