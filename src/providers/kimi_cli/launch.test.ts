import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { trustId } from '../../domain/ids.ts'
import { blankProfile, type Profile, roleTools } from '../../domain/profile.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { parseBinding, planKimiLaunch } from './launch.ts'
import { addToConfig, readOwnMode } from './own-config.ts'
import { planPermissions } from './permissions.ts'

const profile: Profile = {
  ...blankProfile,
  name: 'reviewer',
  description: 'reads code',
  permissionMode: 'ask',
  mcpServers: {
    notes: { command: 'notes-server', args: ['--fast'], env: { KEY: 'v' }, timeoutMs: 5_000 },
    far: { url: 'https://example.com/mcp', transport: 'http', headers: {} },
  },
}

describe('planKimiLaunch', () => {
  let home: string
  let request: LaunchRequest
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'cao-kimi-launch-'))
    request = {
      terminalId: trustId('1a2b3c4d'),
      profile,
      systemPrompt: 'You review.',
      allowedTools: roleTools.reviewer,
      model: 'k2',
      program: '/opt/kimi',
      cwd: join(home, 'proj'),
      privateDir: '/srv/private',
      spoolDir: '/srv/spool',
      hookArgv: ['/srv/my hook', '/srv/spool'],
      mcp: { argv: ['/opt/cao-mcp-server', '--x'], env: { CAO_TERMINAL_ID: '1a2b3c4d' } },
      clientEnv: { HOME: home },
      port: undefined,
      randomHex: (digits) => 'f'.repeat(digits),
      resume: undefined,
    }
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const fileOf = (plan: LaunchPlan, name: string) =>
    plan.files.find(({ path }) => path === `/srv/private/kimi-home/${name}`)?.content ?? ''

  it('gives the program a home of the terminal, with links to what belongs to the person', async () => {
    write('.kimi-code/config.toml', 'default_model = "mine"\n')
    write('.kimi-code/AGENTS.md', 'mine')
    write('.kimi-code/cache/x', '')
    const plan = await planKimiLaunch(request)
    expect(plan.argv).toEqual(['/opt/kimi', '--model', 'k2'])
    expect(plan.env).toEqual({
      HOME: home,
      KIMI_CODE_HOME: '/srv/private/kimi-home',
      KIMI_CODE_NO_AUTO_UPDATE: '1',
    })
    const folder = (name: string) => ({ ...link(name), isFolder: true })
    const link = (name: string) => ({ path: `/srv/private/kimi-home/${name}`, target: join(home, '.kimi-code', name) })
    expect(plan.links).toEqual([
      folder('sessions'),
      folder('credentials'),
      folder('workspace-trust'),
      link('AGENTS.md'),
    ])
    expect(plan.binding).toEqual({ homeDir: join(home, '.kimi-code'), vendorSessionId: null })
    expect(fileOf(plan, 'config.toml')).toMatch(/^default_permission_mode = "manual"\ndefault_model = "mine"\n/)
    expect(fileOf(plan, 'config.toml')).toContain(`command = "'/srv/my hook' '/srv/spool' Stop"`)
    expect(fileOf(plan, 'SYSTEM.md')).toBe('$'.concat('{base_prompt}\n\nYou review.\n'))
  })

  it('puts the servers of the profile and ours beside those of the person', async () => {
    write('.kimi-code/mcp.json', '{"mcpServers":{"own":{"command":"own-server"}}}')
    const plan = await planKimiLaunch(request)
    expect(JSON.parse(fileOf(plan, 'mcp.json'))).toEqual({
      mcpServers: {
        own: { command: 'own-server' },
        notes: { command: 'notes-server', args: ['--fast'], env: { KEY: 'v' }, toolTimeoutMs: 5_000 },
        far: { url: 'https://example.com/mcp', transport: 'http', headers: {} },
        'cao-mcp-server': {
          command: '/opt/cao-mcp-server',
          args: ['--x'],
          env: { CAO_TERMINAL_ID: '1a2b3c4d' },
          startupTimeoutMs: 60_000,
          toolTimeoutMs: 21_600_000,
        },
      },
    })
    write('.kimi-code/mcp.json', 'broken')
    await expect(planKimiLaunch(request)).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('lets the own prompt stand first, and leaves it as it is for a profile without one', async () => {
    write('.kimi-code/SYSTEM.md', 'I am mine.')
    expect(fileOf(await planKimiLaunch(request), 'SYSTEM.md')).toBe('I am mine.\n\nYou review.\n')
    const plain = await planKimiLaunch({ ...request, systemPrompt: undefined })
    expect(fileOf(plain, 'SYSTEM.md')).toBe('I am mine.')
  })

  it('takes a conversation up by its id when it left a record', async () => {
    const resume = { homeDir: join(home, '.kimi-code'), vendorSessionId: 'session_1' }
    expect((await planKimiLaunch({ ...request, resume })).argv).not.toContain('--session')
    write('.kimi-code/sessions/wd_x/session_1/agents/main/wire.jsonl', '')
    const plan = await planKimiLaunch({ ...request, resume })
    expect(plan.argv.slice(1, 3)).toEqual(['--session', 'session_1'])
    expect(parseBinding(plan.binding)).toEqual(resume)
    expect(parseBinding({ other: 1 })).toBeUndefined()
  })
})

describe('addToConfig', () => {
  const hook = { event: 'Stop', command: 'say "x"', timeout: 10 }
  const add = (text: string, disabledTools: readonly string[] = [], permissionMode?: string) =>
    addToConfig(text, { permissionMode, disabledTools, hooks: [hook] })
  const table = '\n[[hooks]]\nevent = "Stop"\ncommand = "say \\"x\\""\ntimeout = 10\n'

  it('adds behind what is there', () => {
    expect(add('')).toBe(table)
    expect(add('a = 1\n\n[[hooks]]\nevent = "Stop"')).toBe(`a = 1\n\n[[hooks]]\nevent = "Stop"\n${table}`)
  })

  it('goes on with a list that is written on one line', () => {
    expect(add('hooks = [{ event = "Stop", command = "mine" }]\n[tools]\nenabled = []\n', ['Bash'])).toBe(
      'hooks = [{event = "Stop", command = "say \\"x\\"", timeout = 10}, { event = "Stop", command = "mine" }]\n[tools]\ndisabled = ["Bash"]\nenabled = []\n',
    )
  })

  it('disables tools beside those that the person has disabled', () => {
    expect(add('[tools]\ndisabled = ["Skill"]\n[x]\n', ['Bash', 'Write'])).toBe(
      `[tools]\ndisabled = ["Bash", "Write", "Skill"]\n[x]\n${table}`,
    )
    expect(add('a = 1', ['Bash'])).toBe(`a = 1\n\n[tools]\ndisabled = ["Bash"]\n${table}`)
  })

  it('says the mode once, also where another table has a key of that name', () => {
    const text = 'default_permission_mode = "yolo"\n[other]\ndefault_permission_mode = "x"\n'
    expect(add(text, [], 'manual')).toBe(
      `default_permission_mode = "manual"\n\n[other]\ndefault_permission_mode = "x"\n${table}`,
    )
    expect([readOwnMode(text), readOwnMode('[other]\ndefault_permission_mode = "x"\n')]).toEqual(['yolo', undefined])
  })
})

describe('planPermissions', () => {
  const plan = (permissionMode: string | undefined, tools?: readonly string[], own?: string) =>
    planPermissions({ ...blankProfile, permissionMode }, tools, own)

  it.each([
    ['ask', 'manual'],
    ['allow', 'auto'],
    ['auto', 'yolo'],
    ['plan', 'manual'],
  ])('knows "%s" as %s', (mode, own) => {
    expect(plan(mode)).toMatchObject({ mode: own, isPlanning: mode === 'plan', notEnforced: [] })
  })

  it('names the own mode, and what it does not know', () => {
    expect(plan(undefined, undefined, 'yolo').says).toBe(
      'as Kimi Code is set: runs what is routine without asking, asks before risky actions',
    )
    expect(plan('never', ['magic']).notEnforced).toHaveLength(2)
  })

  it('disables what the profile does not allow, sub-agents with the shell', () => {
    expect(plan('ask', ['fs_read', 'fs_list']).disabledTools).toEqual([
      'Bash',
      'Agent',
      'AgentSwarm',
      'CronCreate',
      'Write',
      'Edit',
      'FetchURL',
      'WebSearch',
    ])
    expect(plan('ask').disabledTools).toEqual([])
  })
})
