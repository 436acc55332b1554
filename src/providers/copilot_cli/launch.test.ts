import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { trustId } from '../../domain/ids.ts'
import { blankProfile, roleTools } from '../../domain/profile.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { eventsPath } from './event-file.ts'
import { parseBinding, planCopilotLaunch } from './launch.ts'
import { planPermissions } from './permissions.ts'

const id = 'ffffffff-ffff-4fff-bfff-ffffffffffff'
let home: string
let request: LaunchRequest
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cao-copilot-launch-'))
  request = {
    terminalId: trustId('1a2b3c4d'),
    profile: {
      ...blankProfile,
      permissionMode: 'ask',
      mcpServers: { notes: { command: 'notes-server', args: [], env: {} } },
    },
    systemPrompt: 'You review.',
    allowedTools: roleTools.reviewer,
    model: 'gpt',
    program: '/opt/copilot',
    cwd: join(home, 'proj'),
    privateDir: '/srv/private',
    spoolDir: '/srv/spool',
    hookArgv: ['/srv/my hook', '/srv/spool'],
    mcp: { argv: ['/opt/cao-mcp-server', '--x'], env: { CAO_TERMINAL_ID: '1a2b3c4d' } },
    clientEnv: { HOME: home, COPILOT_CUSTOM_INSTRUCTIONS_DIRS: '/mine' },
    port: undefined,
    randomHex: (digits) => 'f'.repeat(digits),
    resume: undefined,
  }
})
afterEach(() => rmSync(home, { recursive: true, force: true }))
const fileOf = (plan: LaunchPlan, name: string) =>
  plan.files.find(({ path }) => path === `/srv/private/${name}`)?.content ?? ''

describe('planCopilotLaunch', () => {
  it('names files of the terminal on the command line, and an id of ours', async () => {
    const plan = await planCopilotLaunch(request)
    expect(plan.argv).toEqual([
      '/opt/copilot',
      `--session-id=${id}`,
      '--additional-mcp-config',
      '@/srv/private/mcp.json',
      '--plugin-dir',
      '/srv/private/plugin',
      '--mode',
      'interactive',
      '--allow-tool=cao-mcp-server',
      '--excluded-tools=bash,read_bash,write_bash,stop_bash,list_bash,task,write_agent,create,edit,str_replace_editor,apply_patch,web_fetch,web_search',
      '--model',
      'gpt',
      '--no-auto-update',
    ])
    expect(plan.env).toEqual({ HOME: home, COPILOT_CUSTOM_INSTRUCTIONS_DIRS: '/mine,/srv/private/instructions' })
    expect(plan.binding).toEqual({ vendorSessionId: id, configDir: join(home, '.copilot'), eventsOffset: 0 })
    expect(fileOf(plan, 'instructions/cao.instructions.md')).toBe('---\napplyTo: "**"\n---\nYou review.\n')
    expect(JSON.parse(fileOf(plan, 'plugin/hooks.json'))).toMatchObject({
      hooks: { userPromptSubmitted: [{ bash: "'/srv/my hook' '/srv/spool' userPromptSubmitted" }] },
    })
    expect(JSON.parse(fileOf(plan, 'mcp.json'))).toEqual({
      mcpServers: {
        notes: { type: 'local', command: 'notes-server', args: [], env: {}, tools: ['*'] },
        'cao-mcp-server': {
          type: 'local',
          command: '/opt/cao-mcp-server',
          args: ['--x'],
          env: { CAO_TERMINAL_ID: '1a2b3c4d' },
          tools: ['*'],
          timeout: 21_600_000,
        },
      },
    })
  })

  it('takes a conversation up by its id when it left a record, from where it was read', async () => {
    const resume = { vendorSessionId: id, configDir: join(home, '.copilot'), eventsOffset: 3 }
    expect((await planCopilotLaunch({ ...request, resume })).argv).toContain(`--session-id=${id}`)
    const path = eventsPath(resume.configDir, id)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '{}\n')
    const plan = await planCopilotLaunch({ ...request, resume })
    expect(plan.argv).toContain(`--resume=${id}`)
    expect(parseBinding(plan.binding)).toEqual(resume)
    expect(parseBinding({ other: 1 })).toBeUndefined()
  })

  it('has no instructions for a profile without a prompt', async () => {
    const plan = await planCopilotLaunch({ ...request, systemPrompt: undefined })
    expect(plan.env).toEqual(request.clientEnv)
    expect(plan.files.map(({ path }) => path)).not.toContain('/srv/private/instructions/cao.instructions.md')
  })
})

it('names what it does not know', () => {
  const plan = planPermissions({ ...blankProfile, permissionMode: 'never' }, ['magic', '*'])
  expect(plan).toMatchObject({ flags: [], excludedTools: [] })
  expect(plan.notEnforced).toHaveLength(2)
  expect(planPermissions({ ...blankProfile, permissionMode: 'allow' }, undefined).flags).toEqual(['--allow-all'])
})
