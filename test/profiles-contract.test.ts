/**
 * Profiles over HTTP on the whole real CAO: upstream's paths, parameters, fields and codes with literal expectations, and ours
 * beside them; an upstream home that is read and never written; limits that a launch keeps. The web is an https server on loopback.
 */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { HttpsServer } from '../src/app/https-server.case.ts'
import { commonFields } from '../src/app/parse-profile.ts'
import { extraFields } from '../src/domain/profile.ts'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { type Answer, type Ask, RealServer } from './real-server.case.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })

const far = '---\nname: far\nrole: reviewer\nallowedTools: [fs_read]\n---\nFrom far away.\n'
let web: HttpsServer
let real: RealServer
let folder: string
let project: string
/** Upstream's home. */
let theirs: string
let store: string

beforeAll(async () => {
  web = await HttpsServer.start(['localhost'], (request, answer) => {
    if (request.url === '/team/boss.md') answer.end('---\nrole: boss\n---\n')
    else if (request.url === '/team/moved.md') answer.writeHead(302, { location: '/team/far.md' }).end()
    else answer.end(far)
  })
  folder = await mkdtemp(join(tmpdir(), 'cao-web-'))
  await writeFile(join(folder, 'ca.pem'), web.cert)
  real = await RealServer.start({
    CAO_PROFILE_ALLOWED_HOSTS: `localhost:${web.port},127.0.0.1,::1`,
    CAO_PROFILE_CA_FILE: join(folder, 'ca.pem'),
  })
  project = join(real.home, 'project')
  theirs = join(real.home, '.aws', 'cli-agent-orchestrator')
  store = real.config.layout.agentStoreDir
  await mkdir(project)
})
afterAll(async () => {
  await real[Symbol.asyncDispose]()
  await web[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const ask = (method: string, path: string, how?: Ask) => real.ask(method, path, how)
const text = expect.any(String) as unknown
const put = async (path: string, content: string) => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}
const write = (name: string, fields: string, prompt = 'Work.') =>
  put(join(store, `${name}.md`), `---\nname: ${name}\n${fields}\n---\n${prompt}\n`)
const launch = async (profile: string, more = '', how?: Ask) => {
  const query = `agent_profile=${profile}&provider=scripted&working_directory=${encodeURIComponent(project)}${more}`
  return ask('POST', `/sessions?${query}`, how)
}
const launched = async (profile: string, more = '', how?: Ask): Promise<TerminalBody> => {
  const answer = await launch(profile, more, how)
  expect([answer.status, answer.text]).toEqual([201, text])
  return answer.body as TerminalBody
}

describe('reading', () => {
  test('GET /agents/profiles lists what upstream tells, and a profile with a fault with its reason', async () => {
    await write('tester', 'description: Runs tests\ncapabilities: [run tests]\ntags: [qa]\nrole: reviewer')
    await write('wrong', 'role: boss')
    await write('reviewer', 'description: mine')
    const list = (await ask('GET', '/agents/profiles')).body as { name: string }[]
    expect(list.find(({ name }) => name === 'tester')).toEqual({
      name: 'tester',
      source: 'local',
      loadable: true,
      description: 'Runs tests',
      capabilities: ['run tests'],
      tags: ['qa'],
      role: 'reviewer',
      duplicated_in: [],
      provider: null,
      error: null,
      file: join(store, 'tester.md'),
    })
    expect(list.find(({ name }) => name === 'wrong')).toMatchObject({
      loadable: false,
      error: expect.stringContaining(
        'line 3, can not be used: the field role must be one of developer, reviewer, supervisor, or left out, and is "boss"',
      ),
    })
    expect(list.find(({ name }) => name === 'reviewer')).toMatchObject({ source: 'local', duplicated_in: ['built-in'] })
  })

  test('GET /agents/profiles/{name} drops what is absent and shows no value of a variable', async () => {
    await put(real.config.layout.envFile, 'SECRET=hunter2\n')
    await write(
      'full',
      'description: d\nmcpServers: { docs: { command: docs, args: [--key, ${SECRET}], env: { K: v } } }',
      '${SECRET}',
    )
    const answer = await ask('GET', '/agents/profiles/full')
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        name: 'full',
        description: 'd',
        capabilities: [],
        tags: [],
        mcpServers: { docs: { command: 'docs', args: ['--key', '${SECRET}'], env: ['K'] } },
        effective_tools: ['@builtin', 'fs_*', 'execute_bash', 'web_fetch', '@cao-mcp-server', '@docs'],
        system_prompt: '${SECRET}',
        source: join(store, 'full.md'),
      },
    ])
  })

  test.each(['nobody', '..%2f..%2fetc%2fpasswd', '%2e%2e%2fx', 'a%5c..%5cb', 'x.md'])(
    'GET /agents/profiles/%s is no profile: 404',
    async (name) => {
      expect((await ask('GET', `/agents/profiles/${name}`)).status).toBe(404)
    },
  )

  test('a profile with a fault is 400 by its name', async () => {
    await write('wrong', 'role: boss')
    expect(await ask('GET', '/agents/profiles/wrong')).toMatchObject({ status: 400, body: { code: 'PROFILE_INVALID' } })
  })

  test('GET /agents/profiles/search ranks by the words found, within the limit, and tells no prompt', async () => {
    await write('alpha', 'description: reviews python code for security\ntags: [python]', 'zebra zebra')
    await write('beta', 'description: writes python code', 'zebra')
    const all = (await ask('GET', '/agents/profiles/search?q=Python+security')).body as Record<string, unknown>[]
    expect(all.map(({ name, coverage }) => [name, coverage])).toEqual([
      ['alpha', 2],
      ['beta', 1],
    ])
    expect(all[0]).toMatchObject({
      description: 'reviews python code for security',
      score: expect.any(Number) as unknown,
    })
    expect(JSON.stringify(all)).not.toContain('zebra')
    expect((await ask('GET', '/agents/profiles/search?q=python&limit=1')).body).toHaveLength(1)
    for (const q of ['zebra', '', '!!!']) expect((await ask('GET', `/agents/profiles/search?q=${q}`)).body).toEqual([])
  })

  test.each(['', '?q=x&limit=0', '?q=x&limit=101', '?q=x&limit=many'])(
    'GET /agents/profiles/search%s is 422',
    async (query) => {
      expect((await ask('GET', `/agents/profiles/search${query}`)).status).toBe(422)
    },
  )

  test('GET /agents/profiles/schema describes every field that is read', async () => {
    const schema = (await ask('GET', '/agents/profiles/schema')).body as { properties: object }
    expect(Object.keys(schema.properties).toSorted()).toEqual([...commonFields, ...Object.keys(extraFields)].toSorted())
  })

  test('POST /agents/profiles/validate says what is wrong and what is let pass', async () => {
    const check = async (content: string) =>
      (await ask('POST', '/agents/profiles/validate', { body: { content } })).body
    expect(await check('---\nname: a\ndescription: d\n---\nDo it.\n')).toEqual({ valid: true, messages: [] })
    expect(await check('---\nname: a\nrole: boss\n---\n')).toEqual({
      valid: false,
      messages: [
        {
          severity: 'error',
          message: 'line 3: the field role must be one of developer, reviewer, supervisor, or left out, and is "boss"',
          path: 'role',
        },
      ],
    })
    expect(
      await check('---\nname: a\ncolour: red\nallowedTools: [teleport]\nprovider: kiro_cli\ncodexConfig: {}\n---\n'),
    ).toEqual({
      valid: true,
      messages: [
        {
          severity: 'warning',
          message: 'it has no description: whoever chooses an agent reads that',
          path: 'description',
        },
        { severity: 'warning', message: 'there is no text after the front matter: the agent gets no prompt', path: '' },
        { severity: 'warning', message: 'the field colour is not known and says nothing', path: 'colour' },
        { severity: 'warning', message: 'no tool is called "teleport"', path: 'allowedTools' },
        { severity: 'warning', message: expect.stringMatching(/^kiro_cli is none of the providers/), path: 'provider' },
        { severity: 'warning', message: 'codexConfig: only codex makes use of it', path: 'codexConfig' },
      ],
    })
    expect(await check('---\ndescription: d\n---\n')).toMatchObject({ valid: false, messages: [{ path: 'name' }] })
    const long = { content: 'x'.repeat(262_145) }
    expect((await ask('POST', '/agents/profiles/validate', { body: long })).status).toBe(422)
  })
})

describe('templates', () => {
  const base = '/agents/profiles/templates'
  const config = { name: 'py', description: 'd: "x"', task: 'python ${NO}: yes', rules: ['keep it small'] }
  const post = (what: string, body: unknown) => ask('POST', `${base}/${what}`, { body })

  test('GET lists them, and each tells what it asks for', async () => {
    const list = (await ask('GET', base)).body as { name: string; description: string }[]
    expect(list.map(({ name }) => name)).toEqual(['team/lead', 'team/worker', 'team/reviewer'])
    for (const { name } of list) {
      const schema = (await ask('GET', `${base}/${name}/schema`)).body
      expect(schema).toMatchObject({
        type: 'object',
        additionalProperties: false,
        properties: { name: { type: 'string' } },
      })
    }
    for (const name of ['team/nobody', '..%2f/x', 'toString/x']) {
      expect((await ask('GET', `${base}/${name}/schema`)).status).toBe(404)
    }
  })

  test('POST validate says what is wrong with the answers, POST preview makes the text of them', async () => {
    const bad = { template: 'team/worker', config: { name: 'a b', description: 'd', colour: 'red' } }
    const checked = await post('validate', bad)
    expect([checked.status, checked.body]).toEqual([200, { valid: false, errors: expect.any(Array) as unknown }])
    expect((checked.body as { errors: string[] }).errors.map((error) => error.split(':')[0])).toEqual([
      'name',
      'task',
      'config',
    ])
    expect((await post('preview', bad)).status).toBe(400)
    expect((await post('validate', { template: 'team/worker' })).body).toMatchObject({ valid: false })
    expect((await post('validate', { template: 'team/nobody', config: {} })).status).toBe(404)
    expect((await post('validate', { template: 'team/worker', config })).body).toEqual({ valid: true, errors: [] })
    const preview = await post('preview', { template: 'team/worker', config })
    const { template, content } = preview.body as { template: string; content: string }
    expect([preview.status, template]).toEqual([200, 'team/worker'])
    expect(content).toMatch(/^---\nname: py\ndescription: "d: \\"x\\""\nrole: developer\n---\n/)
    expect((await ask('POST', '/agents/profiles', { body: { content } })).body).toMatchObject({ agent_name: 'py' })
    expect((await ask('GET', '/agents/profiles/py')).body).toMatchObject({ description: 'd: "x"', role: 'developer' })
  })
})

describe('installing', () => {
  const install = (body: unknown, how?: Ask) => ask('POST', '/agents/profiles/install', { ...how, body })
  const url = (name: string) => `https://localhost:${web.port}/team/${name}.md`

  test('from an address: checked, written for its owner alone, and told with its tools', async () => {
    const answer = await install({ source: url('far') })
    const file = join(store, 'far.md')
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        message: "Agent 'far' installed",
        agent_name: 'far',
        context_file: file,
        agent_file: null,
        unresolved_vars: null,
        source_kind: 'url',
        provider: null,
        allowed_tools: ['fs_read'],
        warnings: ['it has no description: whoever chooses an agent reads that'],
      },
    ])
    expect(await readFile(file, 'utf8')).toBe(far)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('never over one that is there, unless that is asked for', async () => {
    await write('far', 'description: mine')
    expect(await install({ source: url('far') })).toMatchObject({ status: 400, body: { code: 'NAME_TAKEN' } })
    expect(await readFile(join(store, 'far.md'), 'utf8')).toContain('mine')
    expect((await install({ source: url('far'), force: true })).status).toBe(200)
    expect(await readFile(join(store, 'far.md'), 'utf8')).toBe(far)
    expect((await readdir(store)).filter((name) => !name.endsWith('.md'))).toEqual([])
  })

  test.each<[string, () => unknown, string]>([
    ['a redirect', () => ({ source: url('moved') }), 'redirects are not followed'],
    ['a profile that could not be launched', () => ({ source: url('boss') }), 'the field role must be one of'],
    ['a profile of another name', () => ({ source: url('other') }), 'must be "other", as the file is called'],
    ['plain http', () => ({ source: `http://localhost:${web.port}/team/far.md` }), 'https:// only'],
    ['a host that is not of the list', () => ({ source: 'https://evil.example/far.md' }), 'not among the hosts'],
    ['the address of a metadata service', () => ({ source: 'https://169.254.169.254/x.md' }), 'not among the hosts'],
    ['a file', () => ({ source: join(store, 'far.md') }), 'neither the name of a profile nor an https address'],
    ['a way out of the store', () => ({ source: '../far' }), 'neither the name of a profile nor an https address'],
    ['an unknown name', () => ({ source: 'nobody' }), 'no profile is called nobody'],
    ['an unknown provider', () => ({ source: 'developer', provider: 'nobody' }), 'no provider is called "nobody"'],
  ])('%s is refused with 400, and nothing is written', async (_what, body, sentence) => {
    const before = await readdir(store)
    const answer = await install(body())
    expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
      400,
      expect.stringContaining(sentence) as unknown,
    ])
    expect(await readdir(store)).toEqual(before)
  })

  test('by a name: a copy of the built-in one to change, with a provider and variables of its own', async () => {
    const body = { source: 'code_supervisor', provider: 'scripted', env_vars: { TEAM: 'a b' } }
    expect(await install(body)).toMatchObject({
      status: 200,
      body: {
        agent_name: 'code_supervisor',
        source_kind: 'name',
        provider: 'scripted',
        allowed_tools: ['@cao-mcp-server', 'fs_read', 'fs_list'],
      },
    })
    expect((await ask('GET', '/agents/profiles/code_supervisor')).body).toMatchObject({ provider: 'scripted' })
    expect(await readFile(real.config.layout.envFile, 'utf8')).toContain("TEAM='a b'")
    expect((await install({ source: 'code_supervisor' })).status).toBe(200)
    await rm(join(store, 'code_supervisor.md'))
  })

  test('a text: POST /agents/profiles keeps it, DELETE removes it and nothing of another store', async () => {
    const content = '---\nname: given\ndescription: d\nmodel: ${NO_SUCH}\n---\nHello.\n'
    expect(await ask('POST', '/agents/profiles', { body: { content } })).toMatchObject({
      status: 201,
      body: { agent_name: 'given', source_kind: 'file', unresolved_vars: ['NO_SUCH'] },
    })
    for (const body of [{ content }, { content, name: 'else' }, { content: 'x' }, { content, name: '../x' }]) {
      expect((await ask('POST', '/agents/profiles', { body })).status).toBe(400)
    }
    const removed = await ask('DELETE', '/agents/profiles/given')
    expect([removed.status, removed.body]).toEqual([
      200,
      { success: true, name: 'given', file: join(store, 'given.md') },
    ])
    const again = await ask('DELETE', '/agents/profiles/given')
    expect([again.status, (again.body as { code: string }).code]).toEqual([404, 'NOT_FOUND'])
    expect((await ask('DELETE', '/agents/profiles/developer')).text).toContain('which is not of this store')
    expect((await ask('DELETE', '/agents/profiles/..%2fx')).status).toBe(404)
  })

  test('is for people: an agent is refused, and changes nothing', async () => {
    const agent = await launched('developer')
    const headers = { 'x-cao-capability': await real.capability(agent.id) }
    const before = await readdir(store)
    const content = '---\nname: mine\nallowedTools: ["*"]\n---\n'
    expect((await install({ source: 'developer' }, { headers })).status).toBe(403)
    expect((await ask('POST', '/agents/profiles', { headers, body: { content } })).status).toBe(403)
    expect((await ask('DELETE', '/agents/profiles/far', { headers })).status).toBe(403)
    expect((await ask('POST', '/agents/profiles/validate', { headers, body: { content } })).status).toBe(200)
    expect(await readdir(store)).toEqual(before)
  })
})

describe('the provider of a launch', () => {
  const ways: readonly [string, (body: Readonly<Record<string, string>>) => Promise<Answer>][] = [
    ['POST /sessions', (body) => ask('POST', '/sessions', { body })],
    [
      'POST /sessions/{name}/terminals',
      async (body) => {
        const { session_name } = await launched('developer')
        return ask('POST', `/sessions/${session_name}/terminals`, { body })
      },
    ],
    ['POST /jobs', (body) => ask('POST', '/jobs', { body: { ...body, kind: 'assign', message: 'reply 1' } })],
    [
      'POST /terminals/run-step',
      ({ agent_profile: agent = '', ...body }) =>
        ask('POST', '/terminals/run-step', { body: { ...body, agent, prompt: 'reply 1' } }),
    ],
  ]

  test.each(ways)('is that of the call, else that of the profile: %s', async (_path, create) => {
    await write('theirs', 'provider: nobody')
    await write('ours', 'provider: scripted')
    const place = { working_directory: project }
    const refused = { status: 400, body: { code: 'PROVIDER_UNKNOWN' } }
    expect(await create({ ...place, agent_profile: 'theirs' })).toMatchObject(refused)
    expect(await create({ ...place, agent_profile: 'ours', provider: 'nobody' })).toMatchObject(refused)
    for (const body of [{ agent_profile: 'theirs', provider: 'scripted' }, { agent_profile: 'ours' }]) {
      const answer = await create({ ...place, ...body })
      expect([answer.status < 300, answer.text]).toEqual([true, text])
    }
  })
})

describe('launching', () => {
  test('an unknown role is refused with those that there are, one of the settings is taken', async () => {
    await write('wrong', 'role: boss')
    await put(
      real.config.layout.settingsFile,
      JSON.stringify({ agents: { roles: { analyst: ['fs_read', 'web_fetch'] } } }),
    )
    await write('ana', 'role: analyst')
    const refused = await launch('wrong')
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('must be one of analyst, developer, reviewer, supervisor, or left out'),
    ])
    expect((await launched('ana')).allowed_tools).toEqual(['fs_read', 'web_fetch'])
  })

  test('a worker never gets more than its launcher, whatever its profile or the call says', async () => {
    await write('lead', 'allowedTools: [fs_*, "@cao-mcp-server"]')
    await write('greedy', 'allowedTools: ["*"]\nmcpServers: { docs: { command: docs } }')
    await write('narrow', 'allowedTools: [fs_read, execute_bash]')
    const lead = await launched('lead')
    const headers = { 'x-cao-capability': await real.capability(lead.id) }
    const tools = async (profile: string, more = '') => {
      const query = `agent_profile=${profile}&provider=scripted${more}`
      const answer = await ask('POST', `/sessions/${lead.session_name}/terminals?${query}`, { headers })
      expect([answer.status, answer.text]).toEqual([201, text])
      return answer.body as TerminalBody
    }
    const greedy = await tools('greedy')
    expect(greedy.allowed_tools).toEqual(['fs_*', '@cao-mcp-server'])
    expect(greedy.limits_not_enforced).toEqual(['MCP server docs: left out, the allowed tools do not name @docs'])
    expect((await tools('greedy', '&allowed_tools=*')).allowed_tools).toEqual(['fs_*', '@cao-mcp-server'])
    const elsewhere = await launch('greedy', '&allowed_tools=*', { headers })
    expect((elsewhere.body as TerminalBody).allowed_tools).toEqual(['fs_*', '@cao-mcp-server'])
    const job = {
      kind: 'assign',
      agent_profile: 'greedy',
      provider: 'scripted',
      message: 'reply 1',
      allowed_tools: ['*'],
    }
    const assigned = (await ask('POST', '/jobs', { headers, body: job })).body as { terminal_id: string }
    const worker = (await ask('GET', `/terminals/${assigned.terminal_id}`)).body as TerminalBody
    expect(worker.allowed_tools).toEqual(['fs_*', '@cao-mcp-server'])
    const narrow = await tools('narrow')
    expect(narrow.allowed_tools).toEqual(['fs_read'])
    const grandchild = await ask(
      'POST',
      `/sessions/${lead.session_name}/terminals?agent_profile=greedy&provider=scripted`,
      {
        headers: { 'x-cao-capability': await real.capability(narrow.id) },
      },
    )
    expect((grandchild.body as TerminalBody).allowed_tools).toEqual(['fs_read'])
  })

  test('the role of a supervisor does not limit its team, but what a person limits it to does, on every level', async () => {
    await write('boss', 'role: supervisor')
    await write('worker', 'role: developer')
    const under = async (launcher: TerminalBody, profile: string) => {
      const path = `/sessions/${launcher.session_name}/terminals?agent_profile=${profile}&provider=scripted`
      const headers = { 'x-cao-capability': await real.capability(launcher.id) }
      return (await ask('POST', path, { headers })).body as TerminalBody
    }
    const free = await launched('boss')
    expect(free.allowed_tools).toEqual(['@cao-mcp-server', 'fs_read', 'fs_list'])
    expect((await under(free, 'worker')).allowed_tools).toContain('execute_bash')
    const answer = await launch('boss', '&allowed_tools=@cao-mcp-server,fs_read')
    const limited = answer.body as TerminalBody
    expect((await under(limited, 'worker')).allowed_tools?.toSorted()).toEqual(['@cao-mcp-server', 'fs_read'])
    const second = await under(limited, 'boss')
    expect(second.allowed_tools?.toSorted()).toEqual(['@cao-mcp-server', 'fs_read'])
    expect((await under(second, 'worker')).allowed_tools?.toSorted()).toEqual(['@cao-mcp-server', 'fs_read'])
  })

  test('what of a profile its CLI does not serve is said', async () => {
    await write('odd', 'codexConfig: { a: 1 }\nresources: [x]\ncontainer: { path_maps: [] }')
    expect((await launched('odd')).limits_not_enforced).toEqual([
      'container: not served by CAO',
      'codexConfig: only codex makes use of it',
      'resources: only kiro_cli makes use of it',
    ])
  })
})

test("upstream's home is read as it is, and left as it is", async () => {
  const more = join(real.home, 'more')
  await put(join(theirs, 'agent-store', 'stored.md'), '---\nname: stored\ndescription: ${WHO}\n---\nI am ${WHO}.\n')
  await put(join(theirs, 'agent-context', 'stored.md'), '---\nname: stored\n---\n')
  await put(join(theirs, 'agent-context', 'installed.md'), '---\nname: installed\nrole: auditor\n---\n')
  await put(join(real.home, '.kiro', 'agents', 'kiro.md'), '---\nname: kiro\nhooks: { agentSpawn: [] }\n---\n')
  await put(join(more, 'nested', 'agent.md'), '---\nname: nested\n---\n')
  await put(join(real.home, 'off', 'hidden.md'), '---\nname: hidden\n---\n')
  await put(join(theirs, '.env'), 'WHO=somebody\n')
  const settings = {
    agents: { extra_dirs: ['~/more', join(real.home, 'off'), 'relative'], disabled_dirs: [join(real.home, 'off')] },
    roles: { auditor: ['fs_list'] },
    memory: { enabled: true },
  }
  await put(join(theirs, 'settings.json'), JSON.stringify(settings))
  const before = await fingerprint(theirs)
  const list = (await ask('GET', '/agents/profiles')).body as {
    name: string
    source: string
    duplicated_in: string[]
  }[]
  const found = new Map(list.map(({ name, source, duplicated_in }) => [name, [source, duplicated_in]]))
  expect(['stored', 'installed', 'kiro', 'nested', 'hidden'].map((name) => found.get(name))).toEqual([
    ['upstream', ['installed']],
    ['installed', []],
    ['kiro', []],
    ['custom', []],
    undefined,
  ])
  expect((await launched('installed')).allowed_tools).toEqual(['fs_list'])
  const stored = await launched('stored')
  const prompt = join(real.config.layout.terminalsDir, stored.id, 'private', 'system-prompt.md')
  expect(await readFile(prompt, 'utf8')).toContain('I am somebody.')
  await ask('DELETE', '/agents/profiles/stored')
  expect((await ask('POST', '/agents/profiles/install', { body: { source: 'stored' } })).status).toBe(200)
  expect(await fingerprint(theirs)).toBe(before)
  await writeFile(join(theirs, 'settings.json'), 'not JSON')
  expect((await ask('GET', '/agents/profiles/nested')).status).toBe(404)
  expect((await ask('GET', '/agents/profiles')).status).toBe(200)
})

async function fingerprint(dir: string): Promise<string> {
  const hash = createHash('sha256')
  for (const entry of (await readdir(dir, { recursive: true, withFileTypes: true })).toSorted((a, b) =>
    join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1,
  )) {
    const path = join(entry.parentPath, entry.name)
    const { mode, mtimeMs } = await stat(path)
    hash.update(`${path} ${mode} ${mtimeMs}\n`)
    if (entry.isFile()) hash.update(await readFile(path))
  }
  return hash.digest('hex')
}
