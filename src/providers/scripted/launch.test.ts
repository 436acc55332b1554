import { describe, expect, test } from 'vitest'
import type { TerminalId } from '../../domain/ids.ts'
import { blankProfile } from '../../domain/profile.ts'
import type { LaunchRequest } from '../provider.ts'
import { planScriptedLaunch } from './launch.ts'

const request: LaunchRequest = {
  terminalId: '1a2b3c4d' as TerminalId,
  profile: {
    ...blankProfile,
    name: 'developer',
    role: 'developer',
    mcpServers: { docs: { command: '/opt/docs', args: [], env: {} } },
  },
  systemPrompt: 'Be kind.\n```playbook\nreply by the book\n```\nEnd.',
  allowedTools: undefined,
  model: 'small',
  program: '/opt/node',
  cwd: '/srv/project',
  privateDir: '/run/cao/t',
  spoolDir: '/run/cao/t/spool',
  hookArgv: ['/run/cao/hook', '/run/cao/t/spool'],
  mcp: { argv: ['/opt/node', '/opt/mcp.mjs'], env: { CAO_TERMINAL_ID: '1a2b3c4d' } },
  clientEnv: { PATH: '/bin' },
  port: undefined,
  randomHex: (digits) => '0123456789abcdef'.slice(0, digits),
  resume: undefined,
}
const agentArgv = ['/opt/node', '/opt/scripted-agent.mjs', '--screen', 'inline']

describe('planScriptedLaunch', () => {
  test('starts a new conversation with hooks, MCP, system prompt and the playbook in it', () => {
    const plan = planScriptedLaunch(request, agentArgv)
    expect(plan.argv.slice(0, 4)).toEqual(agentArgv)
    expect(plan.argv.slice(4).join(' ')).toBe(
      '--session-id scripted-0123456789abcdef --transcript /run/cao/t/transcript.jsonl ' +
        '--hook-argv ["/run/cao/hook","/run/cao/t/spool"] --mcp-config /run/cao/t/mcp.json --model small ' +
        '--system-prompt-file /run/cao/t/system-prompt.md --playbook /run/cao/t/playbook.txt',
    )
    expect(plan.env).toEqual({ PATH: '/bin' })
    expect(plan.binding).toEqual({
      vendorSessionId: 'scripted-0123456789abcdef',
      transcript: '/run/cao/t/transcript.jsonl',
    })
    expect(plan.files.map((file) => file.path)).toEqual([
      '/run/cao/t/mcp.json',
      '/run/cao/t/system-prompt.md',
      '/run/cao/t/playbook.txt',
    ])
    expect(JSON.parse(plan.files[0]?.content ?? '')).toEqual({
      mcpServers: {
        docs: { command: '/opt/docs', args: [], env: {} },
        'cao-mcp-server': { command: '/opt/node', args: ['/opt/mcp.mjs'], env: { CAO_TERMINAL_ID: '1a2b3c4d' } },
      },
    })
    expect(plan.files[2]?.content).toBe('reply by the book\n')
  })

  test('goes on with the conversation and the record of a former life', () => {
    const resume = { vendorSessionId: 'scripted-old', transcript: '/elsewhere/t.jsonl' }
    const plan = planScriptedLaunch({ ...request, systemPrompt: undefined, model: undefined, resume }, agentArgv)
    expect(plan.argv.slice(4, 8)).toEqual(['--resume', 'scripted-old', '--transcript', '/elsewhere/t.jsonl'])
    expect(plan.binding).toEqual(resume)
    expect(plan.files).toHaveLength(1)
  })
})
