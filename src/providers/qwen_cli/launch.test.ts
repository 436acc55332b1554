import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { trustId } from '../../domain/ids.ts'
import { blankProfile } from '../../domain/profile.ts'
import type { LaunchPlan, LaunchRequest } from '../provider.ts'
import { planQwenLaunch } from './launch.ts'

describe('planQwenLaunch', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cao-qwen-launch-'))
    write('home/.qwen/settings.json', '{ // mine\n "tools": { "approvalMode": "plan" } }')
    mkdirSync(join(folder, 'proj'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const plan = (more: Partial<LaunchRequest> = {}): Promise<LaunchPlan> =>
    planQwenLaunch(
      {
        terminalId: trustId('1a2b3c4d'),
        profile: { ...blankProfile, name: 'p', permissionMode: 'ask' },
        systemPrompt: 'Be @brief, mail a@b.',
        allowedTools: undefined,
        model: undefined,
        program: '/usr/bin/qwen',
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
      { ownProgram: '/own/qwen', node: '/own/node' },
    )
  const fileOf = ({ files }: LaunchPlan, name: string) => files.find(({ path }) => path.endsWith(name))?.content ?? ''

  it('says all that is ours on the command line and in files of the agent alone', async () => {
    const planned = await plan()
    expect(planned.argv).toEqual([
      '/usr/bin/qwen',
      '--session-id',
      'aaaaaaaa-aaaa-4aaa-aaaa-aaaaaaaaaaaa',
      '--approval-mode',
      'default',
      '--append-system-prompt',
      'Be @brief, mail a@b.',
      '--mcp-config',
      join(folder, 'private', 'mcp.json'),
    ])
    expect(planned.env).toEqual({
      HOME: join(folder, 'home'),
      PATH: '/usr/bin',
      QWEN_RUNTIME_DIR: join(folder, 'private', 'qwen'),
      QWEN_CODE_MEMORY_BASE_DIR: join(folder, 'home', '.qwen'),
      QWEN_CODE_SYSTEM_SETTINGS_PATH: join(folder, 'private', 'settings.json'),
    })
    expect(planned.permissionMode).toContain('asks before shell commands')
  })

  it("offers CAO's server at once, never asked for, with its identity", async () => {
    expect(JSON.parse(fileOf(await plan(), 'mcp.json'))).toMatchObject({
      mcpServers: {
        'cao-mcp-server': { env: { CAO_TERMINAL_ID: '1a2b3c4d' }, trust: true, alwaysLoadTools: true },
      },
    })
    expect(JSON.parse(fileOf(await plan(), 'settings.json'))).toMatchObject({
      ui: { enableFollowupSuggestions: false },
    })
  })

  it('takes tools away, and names the mode of the person where the profile has none', async () => {
    const { argv } = await plan({ allowedTools: ['fs_read', 'fs_list'] })
    expect(argv[argv.indexOf('--exclude-tools') + 1]).toMatch(/^run_shell_command,.*write_file,edit,.*web_fetch/)
    const planned = await plan({ profile: { ...blankProfile, name: 'p' } })
    expect([planned.permissionMode, planned.argv.includes('--approval-mode')]).toEqual([
      'as Qwen Code is set: reads and plans only',
      false,
    ])
  })

  it('refuses a prompt that fits no command line', async () => {
    await expect(plan({ systemPrompt: 'x'.repeat(100_001) })).rejects.toThrow('longer than 100000 bytes')
  })

  it('takes up a conversation that had a prompt, and begins another one where it had none', async () => {
    const id = '11111111-2222-4333-8444-555555555555'
    const binding = { recordsDir: '', vendorSessionId: id, offsets: '{}' }
    expect((await plan({ resume: binding })).argv).not.toContain('--resume')
    const prompt = { timestamp: '2026-12-01T00:00:00Z', type: 'user', message: { parts: [{ text: 'hi' }] } }
    write(`private/qwen/projects/proj/chats/${id}.jsonl`, `${JSON.stringify(prompt)}\n`)
    expect((await plan({ resume: binding })).argv.slice(1, 3)).toEqual(['--resume', id])
  })

  it('runs the copy that CAO installed by our Node', async () => {
    expect((await plan({ program: '/own/qwen' })).argv.slice(0, 2)).toEqual(['/own/node', '/own/qwen'])
  })
})
