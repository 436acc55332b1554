import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { trustId } from '../../domain/ids.ts'
import { blankProfile, type Profile, roleTools } from '../../domain/profile.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { parseBinding, planClaudeLaunch } from './launch.ts'
import { planPermissions } from './permissions.ts'

const home = mkdtempSync(join(tmpdir(), 'cao-claude-launch-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const profile: Profile = {
  ...blankProfile,
  name: 'reviewer',
  description: 'reads code',
  role: 'reviewer',
  permissionMode: 'ask',
  mcpServers: { notes: { command: 'notes-server', args: ['--fast'], env: { KEY: 'v' } } },
  systemPrompt: 'You review.',
}
const id = 'ffffffff-ffff-4fff-bfff-ffffffffffff'
const request: LaunchRequest = {
  terminalId: trustId('1a2b3c4d'),
  profile,
  systemPrompt: 'You review "code".',
  allowedTools: roleTools.reviewer,
  model: 'opus',
  program: '/opt/claude',
  cwd: join(home, 'proj'),
  privateDir: '/srv/private',
  spoolDir: '/srv/spool',
  hookArgv: ['/srv/my hook', "it's"],
  mcp: { argv: ['/opt/cao-mcp-server', '--x'], env: { CAO_TERMINAL_ID: '1a2b3c4d' } },
  clientEnv: { HOME: home, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
  port: undefined,
  randomHex: (digits) => 'f'.repeat(digits),
  resume: undefined,
}
const fileOf = (plan: LaunchPlan, name: string) =>
  JSON.parse(plan.files.find(({ path }) => path === `/srv/private/${name}`)?.content ?? 'null') as unknown

function writeBelow(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}

describe('planClaudeLaunch', () => {
  it('names files of the terminal on the command line, and an id of ours', async () => {
    const plan = await planClaudeLaunch(request)
    expect(plan.argv).toEqual([
      '/opt/claude',
      '--settings',
      '/srv/private/settings.json',
      '--strict-mcp-config',
      '--mcp-config',
      '/srv/private/mcp.json',
      '--allowedTools',
      'mcp__cao-mcp-server__*',
      '--disallowedTools',
      'Bash,BashOutput,KillShell,PowerShell,Monitor,Agent,Task,Workflow,Edit,MultiEdit,Write,NotebookEdit,WebFetch,WebSearch',
      '--permission-mode',
      'manual',
      '--append-system-prompt-file',
      '/srv/private/system-prompt.md',
      '--model',
      'opus',
      '--session-id',
      id,
    ])
    expect(plan.binding).toEqual({ vendorSessionId: id, configDir: join(home, '.claude'), transcript: null })
    expect(plan.files.map(({ path }) => path)).toEqual(
      ['settings.json', 'mcp.json', 'system-prompt.md'].map((name) => `/srv/private/${name}`),
    )
    expect(plan.env).toMatchObject({ ...request.clientEnv, CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: '0' })
  })

  it('passes on what the profile says to Claude Code alone', async () => {
    const extras = { claudeConfig: { effort: 'high', fallbackModel: 'sonnet' }, native_agent: 'mine' }
    const { argv } = await planClaudeLaunch({ ...request, profile: { ...profile, extras } })
    expect(argv.join(' ')).toContain('--model opus --effort high --fallback-model sonnet --agent mine --session-id')
  })

  it('says nothing on the command line that is not asked for', async () => {
    const plan = await planClaudeLaunch({
      ...request,
      profile: { ...profile, permissionMode: undefined },
      allowedTools: undefined,
      systemPrompt: undefined,
      model: undefined,
    })
    expect(plan.argv.slice(6)).toEqual(['--allowedTools', 'mcp__cao-mcp-server__*', '--session-id', id])
    expect(plan.files).toHaveLength(2)
  })

  it('asks for the hooks that tell, by a command that a shell reads as it is meant', async () => {
    const command = (name: string) => `'/srv/my hook' 'it'\\''s' ${name}`
    const hook = (name: string) => [{ hooks: [{ type: 'command', command: command(name), timeout: 10 }] }]
    expect(fileOf(await planClaudeLaunch(request), 'settings.json')).toEqual({
      hooks: {
        SessionStart: hook('SessionStart'),
        UserPromptSubmit: hook('UserPromptSubmit'),
        Stop: hook('Stop'),
        StopFailure: hook('StopFailure'),
      },
    })
  })

  it("offers CAO's tools at once and gives them hours, beside the profile's own servers", async () => {
    expect(fileOf(await planClaudeLaunch(request), 'mcp.json')).toEqual({
      mcpServers: {
        notes: { type: 'stdio', command: 'notes-server', args: ['--fast'], env: { KEY: 'v' } },
        'cao-mcp-server': {
          type: 'stdio',
          command: '/opt/cao-mcp-server',
          args: ['--x'],
          env: { CAO_TERMINAL_ID: '1a2b3c4d' },
          alwaysLoad: true,
          timeout: 21_600_000,
        },
      },
    })
  })

  it('takes a conversation up again that has a transcript, and begins one anew that has none', async () => {
    const resume = { vendorSessionId: 'abc', configDir: join(home, '.claude'), transcript: null }
    expect((await planClaudeLaunch({ ...request, resume })).argv.slice(-2)).toEqual(['--session-id', 'abc'])
    writeBelow('.claude/projects/-proj/abc.jsonl', '')
    const plan = await planClaudeLaunch({ ...request, resume })
    expect(plan.argv.slice(-2)).toEqual(['--resume', 'abc'])
    expect(plan.binding).toMatchObject(resume)
  })

  it("looks where the person's configuration is", async () => {
    const clientEnv = { ...request.clientEnv, CLAUDE_CONFIG_DIR: '/srv/claude' }
    expect((await planClaudeLaunch({ ...request, clientEnv })).binding).toMatchObject({ configDir: '/srv/claude' })
  })

  it("names the mode that the person's settings give, the nearest first", async () => {
    const modeOf = async () =>
      (await planClaudeLaunch({ ...request, profile: { ...profile, permissionMode: undefined } })).permissionMode
    expect(await modeOf()).toMatch(/^as Claude Code is set: auto mode/)
    writeBelow('.claude/settings.json', '{"permissions":{"defaultMode":"plan"}}')
    expect(await modeOf()).toBe('as Claude Code is set: reads and plans only')
    writeBelow('proj/.claude/settings.json', 'not JSON')
    writeBelow('proj/.claude/settings.local.json', '{"permissions":{"defaultMode":"acceptEdits"}}')
    expect(await modeOf()).toBe('as Claude Code is set: edits files without asking, asks before other commands')
  })
})

describe('planPermissions', () => {
  it('denies what the role has not, and says what it does not know', () => {
    const plan = planPermissions(
      { ...profile, permissionMode: 'careful' },
      ['fs_*', 'execute_bash', 'telepathy'],
      undefined,
    )
    expect(plan).toMatchObject({ mode: undefined, denied: ['WebFetch', 'WebSearch'] })
    expect(plan.notEnforced).toEqual([
      expect.stringMatching(/^permissionMode careful: Claude Code knows ask,/) as unknown,
      'telepathy: Claude Code has no such tool',
    ])
  })

  it.each([
    ['supervisor', ['Bash', 'Agent', 'Write', 'WebFetch']],
    ['developer', []],
  ] as const)('as %s', (role, denied) => {
    expect(planPermissions(profile, roleTools[role], undefined).denied).toEqual(expect.arrayContaining([...denied]))
  })
})

it.each([
  [
    { vendorSessionId: 'a', configDir: '/c', transcript: '/t' },
    { vendorSessionId: 'a', configDir: '/c', transcript: '/t' },
  ],
  [
    { vendorSessionId: 'a', configDir: '/c', transcript: null },
    { vendorSessionId: 'a', configDir: '/c', transcript: undefined },
  ],
  [{ vendorSessionId: 'a' }, undefined],
  [{}, undefined],
])('reads the binding %j', (binding, parsed) => {
  expect(parseBinding(binding)).toEqual(parsed)
})

/** Literally as upstream's table has them: what a word of the vocabulary must reach, and nothing without it. */
const nativeTools = {
  execute_bash: ['Bash', 'BashOutput', 'KillShell', 'Task', 'Agent', 'Monitor'],
  fs_read: ['Read'],
  fs_write: ['Edit', 'Write', 'NotebookEdit'],
  fs_list: ['Glob', 'Grep'],
  'fs_*': ['Read', 'Edit', 'Write', 'NotebookEdit', 'Glob', 'Grep'],
  web_fetch: ['WebFetch', 'WebSearch'],
  '*': ['Bash', 'Read', 'Edit', 'Glob', 'WebFetch'],
}

it.each(Object.entries(nativeTools))('%s alone reaches what it stands for, and nothing else', (word, own) => {
  const { denied, notEnforced } = planPermissions(profile, [word, '@builtin', 'discovery', '@docs/x'], undefined)
  const others = Object.values(nativeTools)
    .flat()
    .filter((tool) => !own.includes(tool) && word !== '*')
  expect(denied.filter((tool) => own.includes(tool))).toEqual([])
  expect(denied).toEqual(expect.arrayContaining(others))
  expect(notEnforced).toEqual([])
})

it('denies all of them where the list is empty', () => {
  const { denied } = planPermissions(profile, [], undefined)
  expect(denied).toEqual(expect.arrayContaining(Object.values(nativeTools).flat()))
})
