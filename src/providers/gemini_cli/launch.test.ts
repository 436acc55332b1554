import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { trustId } from '../../domain/ids.ts'
import { blankProfile } from '../../domain/profile.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { planGeminiLaunch } from './launch.ts'

describe('planGeminiLaunch', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cao-gemini-launch-'))
    write(
      'home/.gemini/settings.json',
      '{ "ui": { "theme": "X" }, // mine\n "mcpServers": { "docs": { "command": "docs" } } }',
    )
    write('home/.gemini/oauth_creds.json', '{}')
    write('home/.gemini/tmp/proj/chats/session-1.jsonl', '{}')
    mkdirSync(join(folder, 'proj'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const plan = (more: Partial<LaunchRequest> = {}): Promise<LaunchPlan> =>
    planGeminiLaunch(
      {
        terminalId: trustId('1a2b3c4d'),
        profile: { ...blankProfile, name: 'p', permissionMode: 'ask' },
        systemPrompt: 'Be @brief, mail a@b.',
        allowedTools: undefined,
        model: undefined,
        program: '/usr/bin/gemini',
        cwd: join(folder, 'proj'),
        privateDir: join(folder, 'private'),
        spoolDir: join(folder, 'spool'),
        hookArgv: [],
        mcp: { argv: ['cao-mcp-server'], env: { CAO_TERMINAL_ID: '1a2b3c4d' } },
        clientEnv: { HOME: join(folder, 'home'), PATH: '/usr/bin' },
        port: undefined,
        randomHex: (digits) => 'a'.repeat(digits),
        resume: undefined,
        ...more,
      },
      { ownProgram: '/own/gemini', node: '/own/node' },
    )
  const fileOf = ({ files }: LaunchPlan, name: string) => files.find(({ path }) => path.endsWith(name))?.content ?? ''

  it('gives the agent a home of its own, with links to what stays the person’s', async () => {
    const planned = await plan()
    expect(planned.argv).toEqual([
      '/usr/bin/gemini',
      '--session-id',
      'aaaaaaaa-aaaa-4aaa-aaaa-aaaaaaaaaaaa',
      '--approval-mode',
      'default',
      '--skip-trust',
      '--policy',
      join(folder, 'private', 'policy.toml'),
    ])
    expect(planned.env['GEMINI_CLI_HOME']).toBe(join(folder, 'private', 'gemini-home'))
    expect(planned.links?.map(({ target }) => target)).toEqual([join(folder, 'home', '.gemini', 'oauth_creds.json')])
    expect(planned.permissionMode).toContain('asks before shell commands')
  })

  it("keeps the person's settings and adds CAO's server, which is never asked for, with its identity", async () => {
    const planned = await plan()
    const settings = JSON.parse(fileOf(planned, 'settings.json')) as Record<string, unknown>
    expect(settings).toMatchObject({
      ui: { theme: 'X', dynamicWindowTitle: true },
      mcpServers: {
        docs: { command: 'docs' },
        'cao-mcp-server': { command: 'cao-mcp-server', env: { CAO_TERMINAL_ID: '1a2b3c4d' }, trust: true },
      },
      context: { fileName: ['GEMINI.md', 'cao-1a2b3c4d.md'] },
    })
    expect(fileOf(planned, 'cao-1a2b3c4d.md')).toBe('Be \\@brief, mail a@b.')
    expect(fileOf(planned, 'policy.toml')).toContain('mcpName = "cao-mcp-server"\ndecision = "allow"')
  })

  it('takes tools away by a policy', async () => {
    const policy = fileOf(await plan({ allowedTools: ['fs_read', 'fs_list'] }), 'policy.toml')
    expect(policy).toMatch(
      /toolName = \["run_shell_command",.*"write_file","replace","web_fetch","google_web_search"\]\ndecision = "deny"/,
    )
  })

  it('lets Gemini CLI ask where the folder brings settings of its own, and does as the person decided', async () => {
    write('proj/.gemini/settings.json', '{}')
    expect((await plan()).argv).not.toContain('--skip-trust')
    write('home/.gemini/trustedFolders.json', JSON.stringify({ [join(folder, 'proj')]: 'DO_NOT_TRUST' }))
    expect((await plan()).limitsNotEnforced.join()).toContain('is not trusted in Gemini CLI')
  })

  it('takes up a conversation that had a prompt, and begins another one where it had none', async () => {
    const binding = { recordsDir: '', vendorSessionId: 'one', offsets: '{"session-1-one.jsonl":7}' }
    expect((await plan({ resume: binding })).argv).not.toContain('--resume')
    const prompt = { id: '1', timestamp: '2026-12-01T00:00:00Z', type: 'user', content: [{ text: 'hi' }] }
    const chat = 'private/gemini-home/.gemini/tmp/proj/chats/session-1-one.jsonl'
    write(chat, `${JSON.stringify({ sessionId: 'one' })}\n${JSON.stringify(prompt)}\n`)
    const planned = await plan({ resume: binding })
    expect(planned.argv.slice(1, 3)).toEqual(['--resume', 'one'])
    expect(planned.binding).toMatchObject({ vendorSessionId: 'one', offsets: '{"session-1-one.jsonl":7}' })
  })

  it('runs the copy that CAO installed by our Node', async () => {
    expect((await plan({ program: '/own/gemini' })).argv.slice(0, 2)).toEqual(['/own/node', '/own/gemini'])
  })
})
