/** Profiles, providers, skills and worktrees: what each answers and refuses. Their rules are tested in suites of their own. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { SetupBody } from '../../src/protocol/worktree.ts'
import type { Ask } from '../real-server.case.ts'
import { type Contract, refusal, text, time } from './contract.case.ts'

const run = promisify(execFile)
const profile = (name: string, more = ''): string => `---\nname: ${name}\ndescription: of a test\n${more}---\nDo it.\n`

export function library(contract: () => Contract): void {
  const ask = (method: string, path: string, how?: Ask) => contract().ask(method, path, how)

  describe('profiles and providers', () => {
    test('profiles are listed with what upstream tells of each', async () => {
      const list = (await ask('GET', '/agents/profiles')).body as { name: string }[]
      expect(list.find(({ name }) => name === 'developer')).toMatchObject({
        name: 'developer',
        source: 'built-in',
        loadable: true,
        description: text,
        capabilities: ['write code', 'run commands and tests'],
        tags: ['developer', 'built-in'],
        role: 'developer',
        duplicated_in: [],
        provider: null,
      })
      const one = await ask('GET', '/agents/profiles/developer')
      expect([one.status, one.body]).toMatchObject([200, { name: 'developer', role: 'developer' }])
    })

    test('are searched, described and checked', async () => {
      const found = (await ask('GET', '/agents/profiles/search?q=code&limit=1')).body
      expect(found).toEqual([
        expect.objectContaining({ name: text, coverage: 1, score: expect.any(Number) as unknown }),
      ])
      expect((await ask('GET', '/agents/profiles/schema')).body).toMatchObject({ type: 'object' })
      const check = await ask('POST', '/agents/profiles/validate', { body: { content: profile('fine') } })
      expect([check.status, check.body]).toEqual([200, { valid: true, messages: [] }])
    })

    test('are kept, never over another, and removed', async () => {
      const keep = (body: unknown) => ask('POST', '/agents/profiles', { body })
      expect(await keep({ content: profile('kept') })).toMatchObject({ status: 201, body: { agent_name: 'kept' } })
      expect(refusal(await keep({ content: profile('kept') }))).toEqual([400, 'NAME_TAKEN'])
      expect(refusal(await keep({ content: profile('bad', 'role: boss\n') }))).toEqual([400, 'PROFILE_INVALID'])
      const other = { content: profile('other'), provider: 'nothing' }
      expect(refusal(await keep(other))).toEqual([400, 'PROVIDER_UNKNOWN'])
      expect((await ask('DELETE', '/agents/profiles/kept')).body).toMatchObject({ success: true, name: 'kept' })
      expect(refusal(await ask('GET', '/agents/profiles/kept'))).toEqual([404, 'NOT_FOUND'])
      await writeFile(contract().profilePath('torn'), '---\nname: [\n---\n')
      expect(refusal(await ask('GET', '/agents/profiles/torn'))).toEqual([400, 'PROFILE_INVALID'])
    })

    test('are installed by their name', async () => {
      const install = (body: unknown) => ask('POST', '/agents/profiles/install', { body })
      const done = await install({ source: 'reviewer', provider: 'scripted' })
      expect([done.status, done.body]).toMatchObject([200, { success: true, agent_name: 'reviewer' }])
      await writeFile(contract().profilePath('torn'), '---\nname: [\n---\n')
      const answers = [
        await install({ source: 'reviewer', provider: 'scripted' }),
        await install({ source: 'nobody' }),
        await install({ source: 'torn', force: true }),
        await install({ source: 'developer', provider: 'nothing' }),
        await install({ source: '../up' }),
      ]
      expect(answers.map(refusal)).toEqual([
        [400, 'NAME_TAKEN'],
        [400, 'PROFILE_UNKNOWN'],
        [400, 'PROFILE_INVALID'],
        [400, 'PROVIDER_UNKNOWN'],
        [400, 'BAD_REQUEST'],
      ])
      await ask('DELETE', '/agents/profiles/reviewer')
    })

    test('providers say whether their program is there', async () => {
      const list = (await ask('GET', '/agents/providers')).body as { name: string }[]
      expect(list.find(({ name }) => name === 'scripted')).toEqual({
        name: 'scripted',
        binary: text,
        installed: true,
        hint: null,
      })
    })
  })

  test('templates are listed, described, checked and shown as a profile', async () => {
    const [first] = (await ask('GET', '/agents/profiles/templates')).body as { name: string }[]
    const template = first?.name ?? ''
    expect((await ask('GET', `/agents/profiles/templates/${template}/schema`)).body).toMatchObject({ type: 'object' })
    const empty = { template, config: {} }
    const check = await ask('POST', '/agents/profiles/templates/validate', { body: empty })
    expect([check.status, check.body]).toMatchObject([200, { valid: false, errors: expect.any(Array) as unknown }])
    const config = { name: 'made', description: 'of a test', goal: 'tea', task: 'tea' }
    const shown = await ask('POST', '/agents/profiles/templates/preview', { body: { template: 'team/lead', config } })
    expect(refusal(shown)).toEqual([400, 'BAD_REQUEST'])
    const { task: _, ...good } = config
    const made = await ask('POST', '/agents/profiles/templates/preview', {
      body: { template: 'team/lead', config: good },
    })
    expect([made.status, made.body]).toEqual([
      200,
      { template: 'team/lead', content: expect.stringContaining('name: made') as unknown },
    ])
    const unknown = { template: 'no/such', config: {} }
    const answers = [
      await ask('GET', '/agents/profiles/templates/no/such/schema'),
      await ask('POST', '/agents/profiles/templates/validate', { body: unknown }),
      await ask('POST', '/agents/profiles/templates/preview', { body: unknown }),
    ]
    expect(answers.map(refusal)).toEqual(answers.map(() => [404, 'NOT_FOUND']))
  })

  test('settings are told and set in the shapes of upstream', async () => {
    const extra_dirs = [contract().dir]
    const agents = { agent_dirs: {}, extra_dirs, disabled_dirs: [] }
    const set = await ask('POST', '/settings/agent-dirs', { body: { extra_dirs } })
    expect([set.status, set.body]).toEqual([200, agents])
    expect((await ask('GET', '/settings/agent-dirs')).body).toEqual(agents)
    const skills = { skills_dir: contract().real.config.layout.skillsDir, extra_dirs }
    expect((await ask('POST', '/settings/skill-dirs', { body: { extra_dirs } })).body).toEqual(skills)
    expect((await ask('GET', '/settings/skill-dirs')).body).toEqual(skills)
    const relative = { body: { extra_dirs: ['relative'] } }
    for (const what of ['agent', 'skill']) {
      expect(refusal(await ask('POST', `/settings/${what}-dirs`, relative))).toEqual([400, 'BAD_REQUEST'])
    }
    expect((await ask('GET', '/settings/memory')).body).toEqual({ enabled: false, learning_enabled: false })
  })

  test('a person who has named no way to be told is told so', async () => {
    const shown = await ask('GET', '/notify')
    expect([shown.status, shown.body]).toMatchObject([200, { channels: [] }])
    expect((await ask('POST', '/notify/test')).body).toEqual({ channels: [] })
  })

  test('a purge that is only tried says what it would forget', async () => {
    const answer = await ask('POST', '/purge?older_than_s=864000&dry_run=true')
    expect([answer.status, answer.body]).toEqual([
      200,
      { ended: [], terminals: 0, messages: 0, jobs: 0, questions: 0, events: 0 },
    ])
  })

  test('skills are listed, told by their name, and refused with a reason', async () => {
    const dir = contract().real.config.layout.skillsDir
    const write = async (name: string, content: string) => {
      await mkdir(join(dir, name), { recursive: true })
      await writeFile(join(dir, name, 'SKILL.md'), content)
    }
    await write('tea', '---\nname: tea\ndescription: How to make tea\n---\nBoil water.\n')
    await write('huge', `---\nname: huge\ndescription: d\n---\n${'x'.repeat(16 * 1024 * 1024)}\n`)
    const one = await ask('GET', '/skills/tea')
    expect([one.status, one.body]).toMatchObject([
      200,
      { name: 'tea', description: 'How to make tea', content: expect.stringContaining('Boil water.') as unknown },
    ])
    expect((await ask('GET', '/skills')).body).toContainEqual(expect.objectContaining({ name: 'tea', loadable: true }))
    const answers = [
      await ask('GET', '/skills/..%2Ftea'),
      await ask('GET', '/skills/none'),
      await ask('GET', '/skills/huge'),
    ]
    expect(answers.map(refusal)).toEqual([
      [400, 'BAD_REQUEST'],
      [404, 'NOT_FOUND'],
      [413, 'TOO_LARGE'],
    ])
  })

  test('worktrees are listed with what they hold, removed when nothing is lost, and set up only as a person allows', async () => {
    const repository = join(contract().real.home, 'repository')
    await mkdir(repository)
    const git = (...args: string[]) =>
      run('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args])
    await git('init', '-q')
    await git('commit', '-q', '--allow-empty', '-m', 'first')
    const { id } = await contract().createAgent({ working_directory: repository, use_worktree: 'true' })
    const list = (await ask('GET', '/worktrees')).body as { terminal_id: string; path: string }[]
    const own = list.find(({ terminal_id }) => terminal_id === id)
    expect(own).toMatchObject({ state: 'ready', changed_files: 0, commits_ahead: 0, used_by: [id], created_at: time })
    expect(refusal(await ask('DELETE', `/worktrees/${id}`))).toEqual([409, 'CONFLICT'])
    await writeFile(join(own?.path ?? '', 'work.txt'), 'not lost')
    await ask('DELETE', `/terminals/${id}`)
    expect(refusal(await ask('DELETE', `/worktrees/${id}`))).toEqual([409, 'CONFLICT'])
    const removed = await ask('DELETE', `/worktrees/${id}?force=true`)
    expect([removed.status, removed.body]).toEqual([200, { success: true }])
    const directory = encodeURIComponent(repository)
    const none = await ask('GET', `/worktrees/setup?directory=${directory}`)
    expect([none.status, none.body]).toMatchObject([200, { file: null, is_allowed: false }])
    const allow = (body: Partial<SetupBody> & { directory: string }) => ask('PUT', '/worktrees/setup', { body })
    const digest = '0'.repeat(64)
    const answers = [
      await ask('GET', '/worktrees/setup?directory=/nowhere'),
      await allow({ directory: '/nowhere', digest }),
      await allow({ directory: repository, digest }),
    ]
    await mkdir(join(repository, '.cao'))
    await writeFile(join(repository, '.cao', 'worktree.json'), '{"setup":["true"]}')
    answers.push(await allow({ directory: repository, digest }))
    expect(answers.map(refusal)).toEqual([
      [400, 'BAD_REQUEST'],
      [400, 'BAD_REQUEST'],
      [404, 'NOT_FOUND'],
      [409, 'CONFLICT'],
    ])
    const found = (await ask('GET', `/worktrees/setup?directory=${directory}`)).body as SetupBody
    expect(found).toMatchObject({ argv: ['true'], is_allowed: false })
    const allowed = await allow({ directory: repository, digest: found.digest })
    expect([allowed.status, allowed.body]).toEqual([200, { ...found, is_allowed: true }])
  })
}
