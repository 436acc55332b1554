/**
 * How Gemini CLI is started. It reads its settings from one folder and takes no others, so each agent gets a home of its own
 * (`GEMINI_CLI_HOME`, below its private directory): the person's settings with ours among them, links to their login, memory,
 * commands and extensions, and a place for this agent's conversations alone. Nothing of the person's is written by CAO.
 */
import { join } from 'node:path'
import type { McpServer } from '../../domain/profile.ts'
import { type Fields, fieldsOf, textOf } from '../fields.ts'
import { formatBinding, makeUuid, parseBinding } from '../gemini_family/binding.ts'
import { hasConversation } from '../gemini_family/chat-files.ts'
import { asksForTrust, bringsSettings, loadTrust, type Trust } from '../gemini_family/own-settings.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { geminiChats } from './chat-record.ts'
import { loadOwnHome } from './own-home.ts'
import { formatPolicy, planPermissions } from './permissions.ts'

export const mcpServerName = 'cao-mcp-server'
/** A tool of ours may wait for another agent's work. Units: ms. */
const mcpTimeoutMs = 6 * 60 * 60 * 1000

/** `node`: runs the copy of the program that CAO installed, which is a script. */
export type GeminiProgram = { readonly ownProgram: string | undefined; readonly node: string }

/** Reads the person's settings and looks for what the directory brings. Errors: none. */
export async function planGeminiLaunch(request: LaunchRequest, own: GeminiProgram): Promise<LaunchPlan> {
  const { clientEnv, profile, systemPrompt, model, cwd, privateDir } = request
  const personDir = join(clientEnv['GEMINI_CLI_HOME'] ?? clientEnv['HOME'] ?? '', '.gemini')
  const trustFile = clientEnv['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] ?? join(personDir, 'trustedFolders.json')
  const home = join(privateDir, 'gemini-home')
  const geminiDir = join(home, '.gemini')
  const { settings, entries } = await loadOwnHome(personDir)
  const permissions = planPermissions(profile, request.allowedTools, readOwnMode(settings))
  const former = request.resume === undefined ? undefined : parseBinding(request.resume)
  const formerId = former?.vendorSessionId
  // A conversation without a prompt can not be taken up.
  const resumed =
    formerId !== undefined && (await hasConversation(geminiChats(geminiDir), formerId)) ? formerId : undefined
  const vendorSessionId = resumed ?? makeUuid(request.randomHex)
  const trust = await planTrust({ settings, trustFile, cwd, personDir })
  const promptName = `cao-${request.terminalId}.md`
  const policy = join(privateDir, 'policy.toml')
  return {
    argv: [
      ...(request.program === own.ownProgram ? [own.node] : []),
      request.program,
      ...(resumed === undefined ? ['--session-id', vendorSessionId] : ['--resume', resumed]),
      ...(model === undefined ? [] : ['--model', model]),
      ...(permissions.mode === undefined ? [] : ['--approval-mode', permissions.mode]),
      ...(trust.skips ? ['--skip-trust'] : []),
      '--policy',
      policy,
      // What is named there takes the place of the person's own folder.
      ...(entries.includes('policies') ? ['--policy', join(geminiDir, 'policies')] : []),
    ],
    env: { ...clientEnv, GEMINI_CLI_HOME: home, GEMINI_CLI_TRUSTED_FOLDERS_PATH: trustFile },
    links: entries.map((name) => ({ path: join(geminiDir, name), target: join(personDir, name) })),
    files: [
      { path: join(geminiDir, 'settings.json'), content: formatSettings(settings, request, promptName) },
      { path: policy, content: formatPolicy(permissions.denied, mcpServerName) },
      ...(systemPrompt === undefined
        ? []
        : [{ path: join(geminiDir, promptName), content: keepImports(systemPrompt) }]),
    ],
    binding: formatBinding({
      recordsDir: geminiDir,
      vendorSessionId,
      offsets: resumed === undefined ? {} : (former?.offsets ?? {}),
    }),
    permissionMode: permissions.says,
    limitsNotEnforced: [...permissions.notEnforced, ...trust.notes],
  }
}

const readOwnMode = (settings: Fields): string | undefined =>
  textOf(fieldsOf(settings, 'general'), 'defaultApprovalMode')

type TrustCase = {
  readonly settings: Fields
  readonly trustFile: string
  readonly cwd: string
  readonly personDir: string
}

/**
 * The person named the directory, so it is trusted, for this run. Where it brings settings of its own, which could run
 * programs, or where they have decided already, nothing is said here: Gemini CLI asks, or does as they decided.
 */
async function planTrust(given: TrustCase): Promise<{ readonly skips: boolean; readonly notes: readonly string[] }> {
  const { settings, trustFile, cwd, personDir } = given
  if (!asksForTrust(settings, true)) return { skips: false, notes: [] }
  const trust: Trust = await loadTrust(trustFile, cwd)
  const note = `${cwd} is not trusted in Gemini CLI: it starts no MCP server there, CAO's neither`
  if (trust === 'refused') return { skips: false, notes: [note] }
  return { skips: trust === 'undecided' && !(await bringsSettings(cwd, '.gemini', personDir)), notes: [] }
}

/** The person's settings, and over them only what CAO needs to read the screen and to be called. */
function formatSettings(settings: Fields, request: LaunchRequest, promptName: string): string {
  const { profile, mcp, systemPrompt } = request
  const [command, ...args] = mcp.argv
  const others = Object.entries(profile.mcpServers).map(([name, server]) => [name, toMcpEntry(server)])
  // An agent must be able to report at night: never asked for.
  const own = command === undefined ? {} : { command, args, env: mcp.env, timeout: mcpTimeoutMs, trust: true }
  const mcpServers = {
    ...fieldsOf(settings, 'mcpServers'),
    ...Object.fromEntries(others),
    ...(command === undefined ? {} : { [mcpServerName]: own }),
  }
  const ui = fieldsOf(settings, 'ui')
  const context = fieldsOf(settings, 'context')
  return JSON.stringify(
    {
      ...settings,
      general: {
        ...fieldsOf(settings, 'general'),
        enableAutoUpdate: false,
        enableAutoUpdateNotification: false,
        vimMode: false,
      },
      // The title tells its state; tips and jokes would cover the line that tells it, too.
      ui: {
        ...ui,
        hideWindowTitle: false,
        dynamicWindowTitle: true,
        showStatusInTitle: false,
        loadingPhrases: 'off',
        useAlternateBuffer: false,
        accessibility: { ...fieldsOf(ui, 'accessibility'), screenReader: false },
      },
      ...(systemPrompt === undefined
        ? {}
        : { context: { ...context, fileName: [...listNames(context['fileName']), promptName] } }),
      mcpServers,
    },
    undefined,
    2,
  )
}

function listNames(names: unknown): readonly string[] {
  if (typeof names === 'string') return [names]
  const list = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  return list.length > 0 ? list : ['GEMINI.md']
}

/** `@path` after a blank would be replaced by that file. */
const keepImports = (text: string): string => text.replaceAll(/(^|\s)@(?=[\w./~])/g, '$1\\@')

function toMcpEntry({ timeoutMs, ...server }: McpServer): Readonly<Record<string, unknown>> {
  const limit = timeoutMs === undefined ? {} : { timeout: timeoutMs }
  if (!('url' in server)) return { ...server, ...limit }
  const { url, transport, headers } = server
  return { ...(transport === 'http' ? { httpUrl: url } : { url }), headers, ...limit }
}
