import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { trustId } from '../../domain/ids.ts'
import { blankProfile, type Profile, roleTools } from '../../domain/profile.ts'
import type { LaunchRequest } from '../provider.ts'
import { parseBinding, planCodexLaunch } from './launch.ts'
import { hasDecided, readOwnMode } from './own-settings.ts'
import { type OwnMode, planPermissions } from './permissions.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'cao-codex-launch-')))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const id = '01a22f28-ada2-79c0-a82d-6c49ec2d8cd9'
const cwd = join(home, 'proj')
const profile: Profile = { ...blankProfile, name: 'helper', permissionMode: 'ask', systemPrompt: 'You help.' }
const request: LaunchRequest = {
  terminalId: trustId('1a2b3c4d'),
  profile,
  systemPrompt: 'You help "all".\nGladly.',
  allowedTools: undefined,
  model: 'gpt',
  program: '/opt/codex',
  cwd,
  privateDir: '/srv/private',
  spoolDir: '/srv/spool',
  hookArgv: ['/srv/hook'],
  mcp: { argv: ['/opt/cao-mcp-server', '--x'], env: { CAO_TERMINAL_ID: '1a2b3c4d' } },
  clientEnv: { HOME: home, OPENAI_API_KEY: 'k' },
  port: undefined,
  randomHex: (digits) => 'f'.repeat(digits),
  resume: undefined,
}

function write(path: string, text = ''): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}

/** What follows `-c`, by key. */
function settingsOf(argv: readonly string[]): Readonly<Record<string, string>> {
  const pairs = argv.filter((_, at) => argv[at - 1] === '-c').map((word) => /^([^=]+)=([^]*)$/.exec(word) ?? [])
  return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, value]))
}

describe('planCodexLaunch', () => {
  beforeEach(() => {
    rmSync(home, { recursive: true, force: true })
    mkdirSync(cwd, { recursive: true })
  })

  it('puts everything on the command line, for this run alone', async () => {
    const plan = await planCodexLaunch(request)
    expect(plan.argv.filter((_, at, all) => all[at - 1] !== '-c' && all[at] !== '-c')).toEqual([
      '/opt/codex',
      '--no-daemon',
      '--model',
      'gpt',
      '--sandbox',
      'read-only',
      '--ask-for-approval',
      'on-request',
    ])
    expect(settingsOf(plan.argv)).toEqual({
      check_for_update_on_startup: 'false',
      'tui.terminal_title': '["activity", "run-state", "thread-title", "project-name", "thread-id"]',
      'tui.status_line': '["model-with-reasoning", "current-dir"]',
      developer_instructions: '"You help \\"all\\".\\nGladly."',
      'mcp_servers.cao-mcp-server':
        '{command = "/opt/cao-mcp-server", args = ["--x"], env = {CAO_TERMINAL_ID = "1a2b3c4d"}, ' +
        'default_tools_approval_mode = "approve", startup_timeout_sec = 60, tool_timeout_sec = 21600}',
      projects: `{"${cwd}" = {trust_level = "trusted"}}`,
    })
    expect(plan).toMatchObject({
      env: request.clientEnv,
      files: [],
      binding: { configDir: join(home, '.codex'), vendorSessionId: null, rolloutOffset: 0 },
      limitsNotEnforced: [],
    })
    expect(plan.permissionMode).toMatch(/^reads without asking, asks before/)
  })

  it.each([
    ['settings', 'proj/.codex/config.toml'],
    ['settings of its repository', '.codex-repo'],
  ])('does not trust a directory that brings %s: what they run is for the person to allow', async (_, path) => {
    if (path === '.codex-repo') {
      write('proj/.git/HEAD')
      write('proj/.codex/hooks.json')
      mkdirSync(join(cwd, 'sub'))
    } else write(path)
    const plan = await planCodexLaunch({ ...request, cwd: path === '.codex-repo' ? join(cwd, 'sub') : cwd })
    expect(settingsOf(plan.argv)['projects']).toBe(undefined)
  })

  it("leaves a person's own decision about the directory or its repository in force", async () => {
    write('proj/.git/HEAD')
    mkdirSync(join(cwd, 'sub'))
    write('.codex/config.toml', `[projects."${cwd}"]\ntrust_level = "untrusted"\n`)
    const plan = await planCodexLaunch({ ...request, cwd: join(cwd, 'sub') })
    expect(settingsOf(plan.argv)['projects']).toBe(undefined)
  })

  it('names a directory behind a symbolic link as Codex does', async () => {
    symlinkSync(cwd, join(home, 'link'))
    const plan = await planCodexLaunch({ ...request, cwd: join(home, 'link') })
    expect(settingsOf(plan.argv)['projects']).toContain(`"${cwd}" = {trust_level = "trusted"}`)
  })

  it('takes a conversation up again that has a record, and begins anew where there is none', async () => {
    const resume = { configDir: join(home, '.codex'), vendorSessionId: id.slice(0, 29), rolloutOffset: 70 }
    const anew = await planCodexLaunch({ ...request, resume })
    expect([anew.argv.includes('resume'), anew.binding]).toEqual([
      false,
      { configDir: resume.configDir, vendorSessionId: null, rolloutOffset: 0 },
    ])
    write(`.codex/sessions/2026/12/01/rollout-2026-12-01T01-12-17-${id}.jsonl`)
    const again = await planCodexLaunch({ ...request, resume })
    expect(again.argv.slice(0, 4)).toEqual(['/opt/codex', '--no-daemon', 'resume', id])
    expect(again.binding).toEqual({ ...resume, vendorSessionId: id })
  })

  it("serves the profile's servers and settings, and says which it can not", async () => {
    const mcpServers = {
      notes: { command: 'notes', args: ['--fast'], env: {}, timeoutMs: 1500 },
      web: { url: 'https://x/mcp', transport: 'http', headers: { A: 'b' } },
      old: { url: 'https://x/sse', transport: 'sse', headers: {} },
    } as const
    const extras = { codexProfile: 'work', codexConfig: { model_reasoning_effort: 'high', 'tui.animations': false } }
    const plan = await planCodexLaunch({ ...request, profile: { ...profile, mcpServers, extras } })
    expect(settingsOf(plan.argv)).toMatchObject({
      'mcp_servers.notes': '{command = "notes", args = ["--fast"], env = {}, tool_timeout_sec = 1.5}',
      'mcp_servers.web': '{url = "https://x/mcp", http_headers = {A = "b"}}',
      model_reasoning_effort: '"high"',
      'tui.animations': 'false',
    })
    expect(plan.argv).toEqual(expect.arrayContaining(['--profile', 'work']))
    expect(plan.limitsNotEnforced).toEqual([expect.stringMatching(/^MCP server old: /)])
  })

  it.each([
    ['a prompt that no command line can hold', { systemPrompt: 'x'.repeat(200_000) }],
    ['a setting whose name would be another one', { profile: { ...profile, extras: { codexConfig: { 'a="b': 1 } } } }],
  ])('refuses %s', async (_, change) => {
    await expect(planCodexLaunch({ ...request, ...change })).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('keeps its settings where CODEX_HOME says', async () => {
    const plan = await planCodexLaunch({ ...request, clientEnv: { ...request.clientEnv, CODEX_HOME: '/srv/codex' } })
    expect(plan.binding['configDir']).toBe('/srv/codex')
  })
})

describe('permissions', () => {
  const own: OwnMode = { asks: undefined, sandbox: undefined }
  const plan = (permissionMode: string | undefined, allowed?: readonly string[], ownMode = own) =>
    planPermissions({ ...profile, permissionMode }, allowed, ownMode)
  const bypass = ['--sandbox', 'danger-full-access', '--ask-for-approval', 'never']
  const readOnly = ['--sandbox', 'read-only', '--ask-for-approval', 'never']

  it.each([
    ['allow', bypass],
    ['auto', ['--sandbox', 'workspace-write', '--ask-for-approval', 'on-request']],
    [undefined, []],
  ])('the mode %s is told by flags', (mode, flags) => {
    expect(plan(mode, roleTools.developer).flags).toEqual(flags)
  })

  it("says what the person's own settings say, where the profile has no mode", () => {
    expect(plan(undefined).says).toMatch(/^as Codex is set: reads and writes in its directory/)
    expect(plan(undefined, undefined, readOwnMode('approval_policy = "never"\n[x]\nsandbox_mode = "z"')).says).toMatch(
      /^as Codex is set: .* never asks/,
    )
  })

  it('an unknown mode is named', () => {
    expect(plan('yolo').notEnforced).toEqual([expect.stringMatching(/^permissionMode yolo: Codex knows ask, /)])
  })

  it('who may not write or run commands only reads, and nobody is asked for more', () => {
    const { flags, notEnforced } = plan('allow', roleTools.reviewer)
    expect(flags).toEqual([...readOnly, '-c', 'web_search="disabled"'])
    expect(notEnforced[0]).toMatch(/^execute_bash: Codex reads files by shell commands/)
  })

  it('who may neither read nor run commands has no shell', () => {
    const { flags } = plan('ask', ['@cao-mcp-server', 'web_fetch'])
    expect(flags).toEqual([...readOnly, '--disable', 'shell_tool'])
  })

  it('limits hold over a wider mode of the person, and do not widen a narrower one', () => {
    const wide = { asks: 'never', sandbox: 'danger-full-access' }
    expect(plan(undefined, ['execute_bash', 'fs_read', 'fs_list', 'web_fetch'], wide).flags).toEqual(readOnly)
    const narrow = { asks: undefined, sandbox: 'read-only' }
    expect(plan(undefined, ['fs_*', 'web_fetch'], narrow).flags).toEqual(readOnly)
  })

  it('a tool that Codex has not is named', () => {
    expect(plan('ask', ['teleport', 'fs_*', 'execute_bash']).notEnforced[0]).toBe('teleport: Codex has no such tool')
  })
})

it("finds a person's decision in either quotes", () => {
  const [double, single] = ['[projects."/a"]\n', "[projects.'/b']\n"]
  expect([hasDecided(double, ['/a']), hasDecided(single, ['/x', '/b']), hasDecided(double, ['/b'])]).toEqual([
    true,
    true,
    false,
  ])
})

it.each([{}, { configDir: 7 }])('takes no binding of another provider: %j', (binding) => {
  expect(parseBinding(binding)).toBe(undefined)
})
