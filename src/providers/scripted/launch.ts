/** How the scripted agent is started: its flags, its files, and what is kept to find it again. Pure. */
import { join } from 'node:path'
import type { Binding } from '../../domain/terminal.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'

export const mcpServerName = 'cao-mcp-server'

/** A system prompt may carry rules for messages that bring none, in a fence of its own. */
const playbookFence = /^```playbook\n(.*?)^```$/ms

export type ScriptedBinding = {
  readonly vendorSessionId: string
  /** File of the agent's record. */
  readonly transcript: string
}

export function planScriptedLaunch(request: LaunchRequest, agentArgv: readonly string[]): LaunchPlan {
  const former = parseBinding(request.resume)
  const binding: ScriptedBinding = former ?? {
    vendorSessionId: `scripted-${request.randomHex(16)}`,
    transcript: join(request.privateDir, 'transcript.jsonl'),
  }
  const file = (name: string) => join(request.privateDir, name)
  const playbook = playbookFence.exec(request.systemPrompt ?? '')?.[1]
  const files = [
    { path: file('mcp.json'), content: formatMcpConfig(request) },
    ...(request.systemPrompt === undefined
      ? []
      : [{ path: file('system-prompt.md'), content: request.systemPrompt, flag: '--system-prompt-file' }]),
    ...(playbook === undefined ? [] : [{ path: file('playbook.txt'), content: playbook, flag: '--playbook' }]),
  ]
  const argv = [
    request.program,
    ...agentArgv.slice(1),
    former === undefined ? '--session-id' : '--resume',
    binding.vendorSessionId,
    '--transcript',
    binding.transcript,
    '--hook-argv',
    JSON.stringify(request.hookArgv),
    '--mcp-config',
    file('mcp.json'),
    ...(request.model === undefined ? [] : ['--model', request.model]),
    ...files.flatMap((one) => ('flag' in one ? [one.flag, one.path] : [])),
  ]
  return {
    argv,
    env: request.clientEnv,
    files: files.map(({ path, content }) => ({ path, content })),
    binding,
    permissionMode: 'asks before each tool rule; runs nothing itself; MCP calls are not asked for',
    limitsNotEnforced: [],
  }
}

/** undefined when `binding` is none of ours. */
export function parseBinding(binding: Binding | undefined): ScriptedBinding | undefined {
  const vendorSessionId = binding?.['vendorSessionId']
  const transcript = binding?.['transcript']
  if (typeof vendorSessionId !== 'string' || typeof transcript !== 'string') return undefined
  return { vendorSessionId, transcript }
}

function formatMcpConfig(request: LaunchRequest): string {
  const [command = '', ...args] = request.mcp.argv
  const own = command === '' ? {} : { [mcpServerName]: { command, args, env: request.mcp.env } }
  return JSON.stringify({ mcpServers: { ...request.profile.mcpServers, ...own } }, undefined, 2)
}
