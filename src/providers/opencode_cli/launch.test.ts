import { describe, expect, it } from 'vitest'
import { trustId } from '../../domain/ids.ts'
import { blankProfile, type Profile, roleTools } from '../../domain/profile.ts'
import type { LaunchRequest } from '../provider.ts'
import { parseBinding, planOpencodeLaunch } from './launch.ts'
import { planPermissions } from './permissions.ts'

const profile: Profile = {
  ...blankProfile,
  name: 'reviewer',
  description: 'reads code',
  role: 'reviewer',
  mcpServers: { notes: { command: 'notes-server', args: ['--fast'], env: { KEY: 'v' } } },
  systemPrompt: 'You review.',
}

const request: LaunchRequest = {
  terminalId: trustId('1a2b3c4d'),
  profile,
  systemPrompt: 'You review "code".',
  allowedTools: roleTools.reviewer,
  model: 'anthropic/some-model',
  program: '/opt/opencode',
  cwd: '/srv/demo/proj',
  privateDir: '/srv/demo/.cao/terminals/1a2b3c4d/private',
  spoolDir: '/srv/demo/.cao/terminals/1a2b3c4d/spool',
  hookArgv: ['/bin/hook'],
  mcp: { argv: ['/opt/cao-mcp-server', '--x'], env: { CAO_TERMINAL_ID: '1a2b3c4d' } },
  clientEnv: { HOME: '/srv/demo', OPENCODE_SERVER_PASSWORD: 'mine' },
  port: 4711,
  randomHex: (digits) => 'f'.repeat(digits),
  resume: undefined,
}

const configOf = (plan: { readonly env: Readonly<Record<string, string>> }) =>
  JSON.parse(plan.env['OPENCODE_CONFIG_CONTENT'] ?? '') as Record<string, unknown>

describe('planOpencodeLaunch', () => {
  it('puts everything of ours into the environment and into files of the terminal', () => {
    const plan = planOpencodeLaunch(request)
    const dir = request.privateDir
    expect(plan.argv).toEqual([
      '/opt/opencode',
      '--port',
      '4711',
      '--agent',
      'cao-reviewer',
      '--model',
      'anthropic/some-model',
    ])
    expect(plan.files).toEqual([
      { path: `${dir}/server-password`, content: 'f'.repeat(48) },
      { path: `${dir}/system-prompt.md`, content: 'You review "code".' },
    ])
    expect({ ...plan.env, OPENCODE_CONFIG_CONTENT: '' }).toEqual({
      HOME: '/srv/demo',
      OPENCODE_CONFIG_CONTENT: '',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_SERVER_PASSWORD: 'f'.repeat(48),
      OPENCODE_SERVER_USERNAME: 'cao',
    })
    const limits = { question: 'allow', bash: 'deny', task: 'deny', edit: 'deny', webfetch: 'deny', websearch: 'deny' }
    const permission = { ...limits, 'cao-mcp-server_*': 'allow' }
    expect(configOf(plan)).toEqual({
      autoupdate: false,
      default_agent: 'cao-reviewer',
      agent: {
        'cao-reviewer': {
          mode: 'primary',
          description: 'CAO profile reviewer',
          prompt: `{file:${dir}/system-prompt.md}`,
          permission,
        },
      },
      permission,
      mcp: {
        notes: { type: 'local', command: ['notes-server', '--fast'], environment: { KEY: 'v' }, enabled: true },
        'cao-mcp-server': {
          type: 'local',
          command: ['/opt/cao-mcp-server', '--x'],
          environment: { CAO_TERMINAL_ID: '1a2b3c4d' },
          enabled: true,
          timeout: 21_600_000,
        },
      },
    })
  })

  it('names no secret in argv or binding', () => {
    const { argv, binding } = planOpencodeLaunch(request)
    expect(JSON.stringify([argv, binding])).not.toContain('ffff')
  })

  it('takes up a former conversation by its id, on a new port', () => {
    const first = planOpencodeLaunch(request)
    expect(parseBinding(first.binding)).toEqual({
      port: 4711,
      passwordFile: `${request.privateDir}/server-password`,
      vendorSessionId: undefined,
    })
    const again = planOpencodeLaunch({ ...request, port: 4712, resume: { ...first.binding, vendorSessionId: 'ses_1' } })
    expect(again.argv.slice(-2)).toEqual(['--session', 'ses_1'])
    expect(parseBinding(again.binding)).toMatchObject({ port: 4712, vendorSessionId: 'ses_1' })
  })

  it('leaves the prompt of opencode alone when the profile has none', () => {
    const plan = planOpencodeLaunch({ ...request, systemPrompt: undefined })
    expect(plan.files.map((file) => file.path)).toEqual([`${request.privateDir}/server-password`])
    expect(configOf(plan)['agent']).not.toHaveProperty(['cao-reviewer', 'prompt'])
  })
})

describe('parseBinding', () => {
  it('takes only a binding of its own', () => {
    expect(parseBinding({ transcript: '/x' })).toBeUndefined()
  })
})

describe('planPermissions', () => {
  it('limits nothing for a profile that may use everything', () => {
    expect(planPermissions(profile, undefined, 'cao_')).toEqual({
      map: { question: 'allow', 'cao_*': 'allow' },
      mode: "asks where opencode's own configuration says so",
      notEnforced: [],
    })
  })

  it('asks or allows as the profile wants, but never allows what its tools do not hold', () => {
    const tools = ['execute_bash', 'fs_read', '@cao-mcp-server']
    expect(planPermissions({ ...profile, permissionMode: 'allow' }, tools, 'cao_').map).toEqual({
      bash: 'allow',
      edit: 'deny',
      webfetch: 'deny',
      websearch: 'deny',
      question: 'allow',
      glob: 'deny',
      grep: 'deny',
      list: 'deny',
      'cao_*': 'allow',
    })
  })

  it('says aloud what opencode can not keep to', () => {
    const { notEnforced } = planPermissions({ ...profile, permissionMode: 'plan' }, ['fs_*', 'teleport'], 'cao_')
    expect(notEnforced).toEqual([
      'permissionMode plan: opencode knows ask and allow',
      'teleport: opencode has no such tool',
      "MCP servers of opencode's own configuration stay available",
    ])
  })
})

const nativePermissions = {
  execute_bash: ['bash', 'task'],
  fs_read: ['read'],
  fs_write: ['edit'],
  fs_list: ['glob', 'grep', 'list'],
  'fs_*': ['read', 'edit', 'glob', 'grep', 'list'],
  web_fetch: ['webfetch', 'websearch'],
}
const all = [...new Set(Object.values(nativePermissions).flat())]
const deniedOf = (tools: readonly string[]) => {
  const { map } = planPermissions({ ...profile, permissionMode: 'allow' }, tools, 'cao_')
  return all.filter((name) => map[name] === 'deny')
}

it.each(Object.entries(nativePermissions))('%s alone reaches what it stands for, and nothing else', (word, own) => {
  expect(deniedOf([word, '@builtin', 'discovery'])).toEqual(all.filter((name) => !own.includes(name)))
})

it('denies all of them where the list is empty, and none where it is "*"', () => {
  expect([deniedOf([]), deniedOf(['*'])]).toEqual([all, []])
})
