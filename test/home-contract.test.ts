/** `/skills` and `/settings`: upstream's paths and fields, each route once well and once refused, on the whole real CAO. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { RealServer } from './real-server.case.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })
let real: RealServer
const upstream = () => join(real.home, '.aws', 'cli-agent-orchestrator')
const skill = (name: string, body = 'Body.') => `---\nname: ${name}\ndescription: about ${name}\n---\n${body}\n`

async function write(store: string, name: string, content = skill(name)): Promise<void> {
  await mkdir(join(store, name), { recursive: true })
  await writeFile(join(store, name, 'SKILL.md'), content)
}

beforeAll(async () => {
  real = await RealServer.start()
  await write(real.config.layout.skillsDir, 'mine')
  await write(real.config.layout.skillsDir, 'broken', 'no front matter')
  await write(join(upstream(), 'skills'), 'theirs')
  await write(join(real.home, 'more'), 'extra')
})
afterAll(() => real[Symbol.asyncDispose]())

const agentHeaders = async () => {
  const { id } = await real.client.createSession({ agent_profile: 'developer', provider: 'scripted' })
  return { 'x-cao-capability': await real.capability(id) }
}

describe('/skills', () => {
  test('lists those of this home, of upstream and the built-in ones, a faulty one with its fault', async () => {
    const { status, body } = await real.ask('GET', '/skills')
    expect(status).toBe(200)
    const listed = body as { name: string; source: string; loadable: boolean; error: string | null }[]
    expect(listed.map(({ name, loadable }) => [name, loadable])).toEqual([
      ['broken', false],
      ['cao-supervisor-protocols', true],
      ['cao-worker-protocols', true],
      ['mine', true],
      ['theirs', true],
    ])
    expect(listed.find(({ name }) => name === 'mine')).toEqual({
      name: 'mine',
      description: 'about mine',
      source: join(real.config.layout.skillsDir, 'mine'),
      loadable: true,
      error: null,
    })
  })

  test('gives the text by name: upstream has name and content', async () => {
    const { status, body } = await real.ask('GET', '/skills/theirs', { headers: await agentHeaders() })
    expect([status, body]).toEqual([
      200,
      {
        name: 'theirs',
        description: 'about theirs',
        content: 'Body.',
        directory: join(upstream(), 'skills', 'theirs'),
      },
    ])
  })

  test.each([
    ['/skills/nothing', 404, /no skill is called nothing; there are: /],
    ['/skills/a%20b', 400, /is no name of a skill/],
    ['/skills/..%2F..%2Fetc', 400, /is no name of a skill/],
    ['/skills/%00', 400, /is no name of a skill/],
    ['/skills/broken', 400, /must begin with a line "---"/],
  ])('refuses %s', async (path, status, words) => {
    const answer = await real.ask('GET', path)
    expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([status, expect.stringMatching(words)])
  })
})

describe('/settings', () => {
  test('more folders of skills are written into settings.json and hold from the next start on', async () => {
    const { skillsDir, settingsFile } = real.config.layout
    expect((await real.ask('GET', '/settings/skill-dirs')).body).toEqual({ skills_dir: skillsDir, extra_dirs: [] })
    const extra_dirs = [join(real.home, 'more')]
    const set = await real.ask('POST', '/settings/skill-dirs', { body: { extra_dirs } })
    expect([set.status, set.body]).toEqual([200, { skills_dir: skillsDir, extra_dirs }])
    expect(JSON.parse(await readFile(settingsFile, 'utf8'))).toEqual({ skills: { extra_dirs } })
    expect((await real.ask('GET', '/skills/extra')).status).toBe(404)
    const agents = await real.ask('POST', '/settings/agent-dirs', { body: { extra_dirs: ['~/agents'] } })
    expect(agents.body).toEqual({ agent_dirs: {}, extra_dirs: ['~/agents'], disabled_dirs: [] })
    expect((await real.ask('GET', '/settings/agent-dirs')).body).toEqual(agents.body)
    expect((await real.ask('GET', '/settings/memory')).body).toEqual({ enabled: false, learning_enabled: false })
  })

  test.each([
    [{}, 422],
    [{ extra_dirs: 'a' }, 422],
    [{ extra_dirs: ['relative'] }, 400],
    [{ extra_dirs: ['/a\nb'] }, 400],
    [{ extra_dirs: [7] }, 422],
  ])('refuses %j, and nothing is written', async (body, status) => {
    const { home, settingsFile } = real.config.layout
    const before = await readFile(settingsFile, 'utf8')
    for (const path of ['/settings/skill-dirs', '/settings/agent-dirs']) {
      expect((await real.ask('POST', path, { body })).status).toBe(status)
    }
    expect(await readFile(settingsFile, 'utf8')).toBe(before)
    expect((await readdir(home)).filter((name) => name.endsWith('.new'))).toEqual([])
  })

  test('an agent changes none', async () => {
    const headers = await agentHeaders()
    const answer = await real.ask('POST', '/settings/skill-dirs', { body: { extra_dirs: ['/'] }, headers })
    expect(answer.status).toBe(403)
  })
})
