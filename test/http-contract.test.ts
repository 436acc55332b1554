/**
 * The HTTP contract, path by path, on the whole real CAO: upstream's paths, parameters, codes and field names with
 * literal expectations, and ours. Whoever changes one of these breaks somebody's script.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JobBody } from '../src/protocol/job.ts'
import type { MessageBody } from '../src/protocol/message.ts'
import type { QuestionBody } from '../src/protocol/question.ts'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { Contract, hex8, text, time } from './contract/contract.case.ts'
import { deadLetters } from './contract/dead-letters.case.ts'
import { everyRoute } from './contract/every-route.case.ts'
import { jobContract } from './contract/jobs.case.ts'
import { launchRefusals } from './contract/launches.case.ts'
import { library } from './contract/library.case.ts'
import { workRefusals } from './contract/work.case.ts'
import { type Ask, eventually, type RealServer, waitForQuestion } from './real-server.case.ts'

// A machine that is busy with other suites is slow, not wrong.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
let contract: Contract
let real: RealServer
let dir: string
beforeAll(async () => {
  contract = await Contract.start()
  real = contract.real
  dir = contract.dir
})
afterAll(() => contract[Symbol.asyncDispose]())

const ask = (method: string, path: string, how?: Ask) => contract.ask(method, path, how)
const createAgent: Contract['createAgent'] = (query, body) => contract.createAgent(query, body)
const addAgent: Contract['addAgent'] = (session, query) => contract.addAgent(session, query)
const waitForStatus: Contract['waitForStatus'] = (id, status) => contract.waitForStatus(id, status)

describe('the doors', () => {
  test('health is open to all on TCP, but tells them only what upstream tells', async () => {
    const answer = await ask('GET', '/health', { door: 'tcp' })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        status: 'ok',
        service: 'cli-agent-orchestrator',
        terminal_backend: 'tmux',
        components: { cao: 'ok', tmux: 'ok' },
        protocol_version: 1,
        version: text,
      },
    ])
  })

  test('health tells a person who may ask where this CAO lives', async () => {
    expect((await ask('GET', '/health')).body).toMatchObject({
      pid: process.pid,
      home: join(real.home, 'cao'),
      backend: { name: 'tmux', state: 'ready' },
      terminals: expect.any(Number) as unknown,
      last_event_seq: expect.any(Number) as unknown,
    })
  })

  test('the interface describes itself to anybody', async () => {
    const answer = await ask('GET', '/openapi.json', { door: 'tcp' })
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { openapi: '3.1.0', info: { title: 'cli-agent-orchestrator' } },
    ])
  })

  test('a program that looks for an identity provider is told that there is none, as by upstream', async () => {
    const answer = await ask('GET', '/.well-known/oauth-protected-resource', { door: 'tcp' })
    expect([answer.status, answer.body]).toEqual([
      404,
      {
        detail: 'no identity provider: the token of this server is the text of CAO_HOME/run/token',
        code: 'NOT_FOUND',
      },
    ])
  })

  test('a person is told what is found about the backend', async () => {
    const findings = (await ask('GET', '/doctor')).body
    expect(findings).toContainEqual({ what: text, level: 'ok', detail: text })
  })

  test('a page that is not listed reads nothing, and its preflight is refused', async () => {
    const preflight = { origin: 'http://evil.example', 'access-control-request-method': 'POST' }
    const refused = await ask('OPTIONS', '/sessions', { door: 'tcp', headers: preflight })
    expect([refused.status, refused.body]).toEqual([400, { detail: 'Disallowed CORS origin', code: 'BAD_REQUEST' }])
    const read = await ask('GET', '/health', { door: 'tcp', headers: { origin: 'http://evil.example' } })
    expect(read.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('a page of CAO_CORS_ORIGINS and one of our own are let through, as upstream does', async () => {
    for (const origin of ['http://listed.example:5173', `http://127.0.0.1:${real.port}`]) {
      const preflight = {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type',
      }
      const granted = await ask('OPTIONS', '/terminals/00000000/group', { door: 'tcp', headers: preflight })
      expect([granted.status, granted.text, granted.headers]).toMatchObject([
        200,
        'OK',
        {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE',
          'access-control-allow-headers': 'authorization,content-type',
          'access-control-max-age': '600',
          vary: 'Origin',
        },
      ])
      const refused = await ask('GET', '/sessions', { door: 'tcp', headers: { origin } })
      expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, origin])
    }
  })

  test('TCP needs the token of this server', async () => {
    const refused = await ask('GET', '/sessions', { door: 'tcp' })
    expect([refused.status, refused.body]).toEqual([
      401,
      { detail: 'this needs a token: Authorization: Bearer TOKEN', code: 'UNAUTHORIZED' },
    ])
    const headers = { authorization: `Bearer ${await real.token()}` }
    expect((await ask('GET', '/sessions', { door: 'tcp', headers })).status).toBe(200)
    expect((await ask('GET', '/sessions', { door: 'tcp', headers: { authorization: 'Bearer no' } })).status).toBe(401)
  })

  test('a foreign host name is refused on TCP, even with the token', async () => {
    const headers = { authorization: `Bearer ${await real.token()}`, host: 'evil.example' }
    const answer = await ask('GET', '/health', { door: 'tcp', headers })
    expect([answer.status, answer.body]).toEqual([400, { detail: 'Invalid host header', code: 'BAD_REQUEST' }])
  })

  test.each(['http://evil.example', 'null', 'http://127.0.0.1:1'])(
    'a page from %s can change nothing',
    async (origin) => {
      const headers = { authorization: `Bearer ${await real.token()}`, origin }
      const answer = await ask('POST', '/shutdown-all', { door: 'tcp', headers })
      expect([answer.status, answer.body]).toEqual([403, { detail: 'Cross-origin request blocked', code: 'FORBIDDEN' }])
    },
  )

  test('an unknown path is a 404 in the same shape as every error', async () => {
    const answer = await ask('GET', '/nowhere')
    expect([answer.status, answer.body]).toEqual([404, { detail: 'there is no GET /nowhere', code: 'NOT_FOUND' }])
  })

  test('a body that is too large, no JSON or no UTF-8 is refused before anything happens', async () => {
    const large = await ask('POST', '/sessions', { raw: `{"agent_profile":"${'x'.repeat(8 * 1024 * 1024)}"}` })
    expect([large.status, large.body]).toEqual([
      413,
      { detail: 'a request body has at most 8388608 bytes', code: 'TOO_LARGE' },
    ])
    const broken = await ask('POST', '/sessions', { raw: '{"agent_profile":' })
    expect([broken.status, broken.body]).toEqual([422, { detail: 'the body is not valid JSON', code: 'VALIDATION' }])
    // It would arrive as another text than was sent.
    const latin1 = await ask('POST', '/sessions', { raw: Buffer.from('{"agent_profile":"caf\u00e9"}', 'latin1') })
    expect([latin1.status, latin1.body]).toEqual([422, { detail: 'the body is not UTF-8', code: 'VALIDATION' }])
  })
})

everyRoute(() => contract)
launchRefusals(() => contract)
library(() => contract)
workRefusals(() => contract)
deadLetters(() => contract)
jobContract(() => contract)

describe('sessions', () => {
  test('a new one answers 201 with its terminal, in every field', async () => {
    const { status, body } = await ask(
      'POST',
      `/sessions?agent_profile=developer&provider=scripted&session_name=fields&working_directory=${dir}&allowed_tools=fs_read,execute_bash&colour=red`,
      { body: { group: ['a', 'b'], metadata: { ticket: 7 } } },
    )
    expect(status).toBe(201)
    expect(body).toEqual({
      id: hex8,
      name: expect.stringMatching(/^developer-[a-f0-9]{4}$/) as unknown,
      provider: 'scripted',
      session_name: 'cao-fields',
      agent_profile: 'developer',
      caller_id: null,
      allowed_tools: ['fs_read', 'execute_bash'],
      engine: null,
      shell_command: null,
      group: ['a', 'b'],
      metadata: { ticket: 7 },
      status: 'idle',
      last_active: time,
      status_reason: 'ready',
      status_since: time,
      status_detail: null,
      status_until: null,
      status_evidence: text,
      question_id: null,
      life: 'live',
      exit_code: null,
      exit_signal: null,
      lost_reason: null,
      queue_length: 0,
      working_directory: dir,
      program: text,
      permission_mode: text,
      limits_not_enforced: [],
      worktree: null,
      created_at: time,
    })
    const session = {
      id: 'cao-fields',
      name: 'cao-fields',
      status: 'active',
      working_directory: dir,
      agent_profile: 'developer',
      terminal_count: 1,
      created_at: time,
    }
    const { id } = body as TerminalBody
    expect((await ask('GET', '/sessions')).body).toContainEqual(session)
    const terminals = [expect.objectContaining({ id, status: 'idle' }) as unknown]
    expect((await ask('GET', '/sessions/cao-fields')).body).toEqual({ session, terminals })
    expect((await ask('GET', '/sessions/cao-fields/terminals')).body).toEqual(terminals)
    const gone = await ask('DELETE', '/sessions/cao-fields')
    expect([gone.status, gone.body]).toEqual([200, { success: true, deleted: [id], errors: [] }])
    expect((await ask('GET', '/sessions/cao-fields')).status).toBe(404)
  })

  test.each([
    ['an unknown profile', { agent_profile: 'nobody' }, 400, 'PROFILE_UNKNOWN'],
    ['an unknown provider', { provider: 'nothing' }, 400, 'PROVIDER_UNKNOWN'],
    ['a bad name', { session_name: 'a b' }, 400, 'BAD_REQUEST'],
    ['a directory that is not there', { working_directory: '/nowhere/at/all' }, 400, 'DIRECTORY_MISSING'],
    ['a choice of engines', { engine: 'v2' }, 400, 'BAD_REQUEST'],
    ['a worktree', { use_worktree: 'true' }, 400, 'BAD_REQUEST'],
    ['no profile', { agent_profile: '' }, 422, 'VALIDATION'],
    ['a caller that is no id', { caller_id: 'me' }, 422, 'VALIDATION'],
  ] as const)('%s is refused in one sentence and leaves nothing behind', async (...[, change, status, code]) => {
    const before = (await ask('GET', '/terminals')).body
    const query = { agent_profile: 'developer', provider: 'scripted', working_directory: dir, ...change }
    const answer = await ask('POST', `/sessions?${new URLSearchParams(query).toString()}`)
    expect([answer.status, answer.body]).toEqual([status, expect.objectContaining({ code, detail: text })])
    expect((await ask('GET', '/terminals')).body).toEqual(before)
  })

  test('a taken name is a 400, as upstream', async () => {
    const { session_name } = await createAgent()
    const query = `agent_profile=developer&provider=scripted&session_name=${session_name}&working_directory=${dir}`
    const answer = await ask('POST', `/sessions?${query}`)
    expect([answer.status, answer.body]).toMatchObject([400, { code: 'NAME_TAKEN' }])
  })

  test('with a first message the answer does not wait, and the message is taken', async () => {
    const terminal = await createAgent({}, { initial_message: 'reply welcome' })
    expect(['unknown', 'idle', 'processing', 'completed']).toContain(terminal.status)
    await waitForStatus(terminal.id, 'completed')
    expect((await ask('GET', `/terminals/${terminal.id}/output?mode=last`)).body).toMatchObject({ output: 'welcome' })
  })

  test('a session that is not there is a 404 for every verb', async () => {
    const query = 'agent_profile=developer&provider=scripted'
    const answers = [
      await ask('GET', '/sessions/cao-nowhere'),
      await ask('GET', '/sessions/cao-nowhere/terminals'),
      await ask('DELETE', '/sessions/cao-nowhere'),
      await ask('POST', `/sessions/cao-nowhere/terminals?${query}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  })

  test('a message for a new terminal needs defer_init, as upstream', async () => {
    const { session_name } = await createAgent()
    const query = 'agent_profile=developer&provider=scripted'
    const body = { initial_message: 'reply x' }
    const answer = await ask('POST', `/sessions/${session_name}/terminals?${query}`, { body })
    expect([answer.status, answer.body]).toEqual([
      400,
      { detail: 'initial_message needs defer_init=true', code: 'BAD_REQUEST' },
    ])
    const deferred = await ask('POST', `/sessions/${session_name}/terminals?${query}&defer_init=true`, { body })
    expect(deferred.status).toBe(201)
  })
})

describe('one terminal', () => {
  let own: TerminalBody
  beforeAll(async () => {
    own = await createAgent({}, { group: ['app', 'api'] })
  })

  test('an id that can not be one is a 422, one that is not there a 404', async () => {
    expect((await ask('GET', '/terminals/NOTHEX00')).status).toBe(422)
    const missing = await ask('GET', '/terminals/00000000')
    expect([missing.status, missing.body]).toMatchObject([404, { code: 'NOT_FOUND' }])
  })

  test('its directory, its attach command and its reasons can be asked for', async () => {
    expect((await ask('GET', `/terminals/${own.id}/working-directory`)).body).toEqual({ working_directory: dir })
    const { argv } = (await ask('GET', `/terminals/${own.id}/attach`)).body as { argv: string[] }
    expect(argv).toContain('attach-session')
    const told = (await ask('GET', `/terminals/${own.id}/explain`)).body
    expect(Object.keys(told as object)).toEqual([
      'terminal',
      'trail',
      'sources',
      'screen',
      'open_messages',
      'open_questions',
      'facts',
    ])
  })

  test('group and metadata are set, cleared and bounded', async () => {
    const set = await ask('PATCH', `/terminals/${own.id}/group`, { body: { group: ['x'] } })
    expect(set.body).toMatchObject({ id: own.id, group: ['x'] })
    expect((await ask('PATCH', `/terminals/${own.id}/group`, { body: { group: null } })).body).toMatchObject({
      group: null,
    })
    expect((await ask('PATCH', `/terminals/${own.id}/group`, { body: {} })).status).toBe(422)
    const many = { group: Array.from({ length: 17 }, String) }
    expect((await ask('PATCH', `/terminals/${own.id}/group`, { body: many })).status).toBe(422)
    const metadata = { a: { b: [1] } }
    expect((await ask('PATCH', `/terminals/${own.id}/metadata`, { body: { metadata } })).body).toMatchObject({
      metadata,
    })
    await ask('PATCH', `/terminals/${own.id}/group`, { body: { group: ['app', 'api'] } })
  })

  test('siblings share the beginning of its group', async () => {
    const near = await addAgent(own.session_name)
    await ask('PATCH', `/terminals/${near.id}/group`, { body: { group: ['app', 'web'] } })
    const body = [{ id: near.id, group: ['app', 'web'], metadata: null, status: 'idle' }]
    expect((await ask('GET', `/terminals/${own.id}/siblings?depth=1`)).body).toEqual(body)
    expect((await ask('GET', `/terminals/${own.id}/siblings`)).body).toEqual([])
    expect((await ask('GET', `/terminals/${own.id}/siblings?depth=0`)).status).toBe(422)
    await ask('DELETE', `/terminals/${near.id}`)
  })

  test('input stands in the query as upstream sends it, or in a body', async () => {
    const inQuery = await ask('POST', `/terminals/${own.id}/input?message=${encodeURIComponent('reply one')}`)
    expect([inQuery.status, inQuery.body]).toEqual([
      200,
      {
        success: true,
        message_id: expect.any(Number) as unknown,
        sender_id: 'user',
        receiver_id: own.id,
        created_at: time,
        status: 'delivered',
        state: expect.stringMatching(/^(confirmed|turn_started|answered)$/) as unknown,
        detail: text,
        proof: 'hook',
        delivery: 'idle',
      },
    ])
    await waitForStatus(own.id, 'completed')
    const inBody = await ask('POST', `/terminals/${own.id}/input`, { body: { message: 'reply two' } })
    expect(inBody.body).toMatchObject({ success: true, status: 'delivered' })
    await eventually('the second answer', async () => {
      const { output } = (await ask('GET', `/terminals/${own.id}/output?mode=last`)).body as { output: string }
      return output === 'two' ? true : undefined
    })
  })

  test('output: the exact answer, the screen, the history, and slices of the log', async () => {
    expect((await ask('GET', `/terminals/${own.id}/output?mode=last`)).body).toEqual({
      output: 'two',
      is_current: true,
      is_truncated: false,
      mode: 'last',
      source: 'transcript',
    })
    // The screen is painted a moment after the answer stands in the transcript.
    await eventually('the answer on the screen', async () => {
      const full = (await ask('GET', `/terminals/${own.id}/output`)).body as { output: string; mode: string }
      return full.mode === 'full' && full.output.includes('● two') ? true : undefined
    })
    expect((await ask('GET', `/terminals/${own.id}/output?mode=screen`)).body).toMatchObject({ mode: 'screen' })
    expect((await ask('GET', `/terminals/${own.id}/output?mode=half`)).status).toBe(422)
    const first = (await ask('GET', `/terminals/${own.id}/output/range?offset=0&length=10`)).body
    expect(first).toEqual({ output: text, offset: 0, length: 10, next_offset: 10 })
    expect((await ask('GET', `/terminals/${own.id}/output/range?length=1048577`)).status).toBe(422)
  })

  test('its screen can be captured with its attributes', async () => {
    const { status, body } = await ask('GET', `/terminals/${own.id}/capture`)
    expect([status, body]).toMatchObject([200, { provider: 'scripted', lines: expect.any(Array) as unknown }])
  })

  test('keys have names; what is none is a 400', async () => {
    expect((await ask('POST', `/terminals/${own.id}/key?key=Escape`)).body).toEqual({ success: true })
    expect((await ask('POST', `/terminals/${own.id}/key`, { body: { key: 'C-u' } })).status).toBe(200)
    const bad = await ask('POST', `/terminals/${own.id}/key?key=rm%20-rf`)
    expect([bad.status, bad.body]).toMatchObject([400, { code: 'BAD_REQUEST' }])
    expect((await ask('POST', `/terminals/${own.id}/key`)).status).toBe(422)
  })

  test('an agent that is asked to exit ends with its code, and then takes no input', async () => {
    const { id } = await createAgent()
    expect((await ask('POST', `/terminals/${id}/exit`)).body).toEqual({ success: true })
    const ended = await eventually('the exit', async () => {
      const terminal = (await ask('GET', `/terminals/${id}`)).body as TerminalBody
      return terminal.life === 'exited' ? terminal : undefined
    })
    expect(ended).toMatchObject({ exit_code: 0, status: 'completed', status_reason: 'exited' })
    const refused = await ask('POST', `/terminals/${id}/input?message=hello`)
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'BLOCKED' }])
  })

  test('deleting answers success, and then it is gone', async () => {
    const { id } = await createAgent()
    expect((await ask('DELETE', `/terminals/${id}`)).body).toEqual({ success: true })
    expect((await ask('GET', `/terminals/${id}`)).status).toBe(404)
    expect((await ask('DELETE', `/terminals/${id}`)).status).toBe(404)
  })
})

describe('the inbox', () => {
  test('a message is queued at once, delivered, and can be followed by its id', async () => {
    const { id } = await createAgent()
    const sent = await ask('POST', `/terminals/${id}/inbox/messages?sender_id=script&message=reply%20thanks`)
    expect([sent.status, sent.body]).toEqual([
      200,
      {
        success: true,
        message_id: expect.any(Number) as unknown,
        sender_id: 'script',
        receiver_id: id,
        created_at: time,
        status: 'pending',
        state: 'queued',
        detail: null,
        proof: null,
        delivery: 'idle',
      },
    ])
    const messageId = (sent.body as { message_id: number }).message_id
    const message = await eventually('the delivery', async () => {
      const now = (await ask('GET', `/messages/${messageId}`)).body as MessageBody
      return now.state === 'answered' ? now : undefined
    })
    expect(message).toEqual({
      id: messageId,
      sender_id: 'script',
      receiver_id: id,
      message: 'reply thanks',
      orchestration_type: 'send_message',
      status: 'delivered',
      created_at: time,
      state: 'answered',
      detail: text,
      attempts: 1,
      job_id: null,
      author: 'person/unix',
      hops: 0,
      carried_by: null,
      updated_at: time,
      delivery: 'idle',
      proof: 'hook',
      receipts: ['queued', 'leased', 'typing', 'typed', 'confirmed', 'turn_started', 'answered'].map((state) => ({
        state,
        at: time,
      })),
      turn_outcome: 'answered',
      resend_of: null,
      dropped_at: null,
    })
    const times = message.receipts.map(({ at }) => at)
    expect(times).toEqual(times.toSorted())
    expect((await ask('GET', `/terminals/${id}/inbox/messages`)).body).toEqual([message])
    expect((await ask('GET', `/terminals/${id}/inbox/messages?status=pending`)).body).toEqual([])
  })

  test('a message that is sent twice with one uuid is one message', async () => {
    const { id } = await createAgent()
    const body = { message: 'reply once', uuid: '0b6ff5f4-5f0c-4b6e-9d0a-3f8f8f1a2b3c' }
    const ids = [1, 2].map(async () => {
      const sent = await ask('POST', `/terminals/${id}/inbox/messages`, { body })
      return (sent.body as { message_id: number }).message_id
    })
    const [first, second] = await Promise.all(ids)
    expect(second).toBe(first)
    expect((await ask('GET', `/terminals/${id}/inbox/messages`)).body).toHaveLength(1)
  })

  test.each([
    ['to nobody', '00000000', 'message=x', 404],
    ['without text', 'own', 'message=', 422],
    ['in a name that would break the header', 'own', `message=x&sender_id=${encodeURIComponent('a] b')}`, 422],
  ] as const)('a message %s is refused', async (...[, to, query, status]) => {
    const id = to === 'own' ? (await createAgent()).id : to
    expect((await ask('POST', `/terminals/${id}/inbox/messages?${query}`)).status).toBe(status)
  })
})

describe('run-step', () => {
  const step = (body: Record<string, unknown>) =>
    ask('POST', '/terminals/run-step', {
      body: { provider: 'scripted', agent: 'developer', working_directory: dir, ...body },
    })

  test('answers with the last message, and the worker is gone', async () => {
    const { status, body } = await step({ prompt: 'reply 42' })
    expect([status, body]).toEqual([
      200,
      { terminal_id: hex8, last_message: '42', status: 'completed', replayed: false, job_id: text },
    ])
    const { terminal_id } = body as { terminal_id: string }
    await eventually('the end of the worker', async () =>
      (await ask('GET', `/terminals/${terminal_id}`)).status === 404 ? true : undefined,
    )
  })

  test('teardown false keeps the worker, and reuse_terminal_id gives it the next step', async () => {
    const first = (await step({ prompt: 'reply one', teardown: false })).body as { terminal_id: string }
    const second = await step({ prompt: 'reply two', reuse_terminal_id: first.terminal_id, teardown: false })
    expect(second.body).toMatchObject({ terminal_id: first.terminal_id, last_message: 'two' })
  })

  test('a worker that crashes is a 502 of kind error, and names its terminal', async () => {
    const { status, body } = await step({ prompt: 'crash 3' })
    expect([status, body]).toMatchObject([
      502,
      { detail: { kind: 'error', message: text, terminal_id: hex8 }, code: 'WORKER_FAILED' },
    ])
  })

  test('a worker that takes too long is a 504 of kind timeout', async () => {
    const { status, body } = await step({ prompt: 'hang', timeout: 1.5 })
    expect([status, body]).toMatchObject([504, { detail: { kind: 'timeout', terminal_id: hex8 }, code: 'TIMEOUT' }])
  })

  test('the same request_key is the same step, answered again without running', async () => {
    const body = { prompt: 'reply keyed', request_key: 'step-1' }
    const first = (await step(body)).body as { job_id: string }
    expect((await step(body)).body).toMatchObject({ job_id: first.job_id, last_message: 'keyed', replayed: true })
  })

  test.each([
    [{ agent: 'nobody', prompt: 'x' }, 400],
    [{ prompt: '' }, 422],
    [{ prompt: 'x', timeout: 0 }, 422],
    [{ prompt: 'x', reuse_terminal_id: '00000000' }, 404],
    [{ prompt: 'x', env_vars: { CAO_WORKFLOW_RUN_ID: 'r' } }, 400],
  ])('bad parameters %j are a %d', async (body, status) => {
    expect((await step(body)).status).toBe(status)
  })
})

describe('jobs', () => {
  const start = (body: Record<string, unknown>) =>
    ask('POST', '/jobs', {
      body: { kind: 'handoff', agent_profile: 'developer', provider: 'scripted', working_directory: dir, ...body },
    })

  test('one is started at once, waited for, and ends with the exact answer', async () => {
    const started = await start({ message: 'reply forty-two', request_key: 'job-key-1' })
    const job = started.body as JobBody
    expect([started.status, job]).toMatchObject([201, { kind: 'handoff', is_open: true, output: null }])
    const again = (await start({ message: 'reply forty-two', request_key: 'job-key-1' })).body as JobBody
    expect(again.id).toBe(job.id)
    expect((await ask('GET', `/jobs/${job.id}?wait_s=20`)).body).toEqual({
      id: job.id,
      kind: 'handoff',
      caller_id: null,
      terminal_id: hex8,
      agent_profile: 'developer',
      message: 'reply forty-two',
      request_key: 'job-key-1',
      message_id: expect.any(Number) as unknown,
      state: 'answered',
      is_open: false,
      output: 'forty-two',
      failure: null,
      ending: 'turn_ended',
      checks: [],
      attention: null,
      retry_of: null,
      source: expect.stringMatching(/^(hook|transcript)$/) as unknown,
      teardown: true,
      deadline_at: time,
      created_at: time,
      ended_at: time,
    })
  })

  test('a wait that is over answers with the job as it stands, and a job can be cancelled', async () => {
    const { id } = (await start({ message: 'hang' })).body as JobBody
    expect((await ask('GET', `/jobs/${id}?wait_s=0.2`)).body).toMatchObject({ is_open: true })
    expect((await ask('POST', `/jobs/${id}/cancel`)).body).toMatchObject({ state: 'cancelled', is_open: false })
    expect((await ask('GET', `/jobs/${id}?wait_s=61`)).status).toBe(422)
  })

  test('an unknown job is a 404, an impossible id a 422', async () => {
    expect((await ask('GET', '/jobs/job-0000000000000000')).status).toBe(404)
    expect((await ask('GET', '/jobs/7')).status).toBe(422)
  })
})

describe('questions', () => {
  test('a question is listed with its options and answered by its id', async () => {
    const { id } = await createAgent()
    await ask('POST', `/terminals/${id}/input`, { body: { message: 'ask Which colour? | red | blue\nreply done' } })
    await waitForQuestion(real, id)
    const open = (await ask('GET', `/terminals/${id}/questions`)).body as QuestionBody[]
    expect(open).toEqual([
      {
        id: expect.stringMatching(/^q-[a-f0-9]{8}$/) as unknown,
        terminal_id: id,
        reason: 'question',
        text: 'Which colour?',
        options: ['red', 'blue', 'Something else (type it)'],
        opened_at: time,
        closed_at: null,
        answer: null,
        state: 'open',
        answered_by: null,
        detail: null,
        operation: null,
      },
    ])
    const handoff = await ask('POST', `/terminals/${id}/input?message=x&orchestration_type=handoff`)
    expect([handoff.status, handoff.body]).toMatchObject([409, { code: 'BLOCKED' }])
    const body = { answer: 'blue', question_id: open[0]?.id }
    const answered = await ask('POST', `/terminals/${id}/answer`, { body })
    expect([answered.status, answered.body]).toMatchObject([200, { success: true, id: open[0]?.id, answer: 'blue' }])
    await waitForStatus(id, 'completed')
    const late = await ask('POST', `/terminals/${id}/answer`, { body: { answer: 'red' } })
    expect([late.status, late.body]).toMatchObject([409, { code: 'CONFLICT' }])
  })
})

describe('events', () => {
  test('the history is in order and without holes', async () => {
    await createAgent()
    const history = (await ask('GET', '/events/history?after=0&limit=5')).body as { events: { seq: number }[] }
    expect(history).toMatchObject({ gap: false, last_seq: expect.any(Number) as unknown })
    expect(history.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
    expect((await ask('GET', '/events/history?limit=501')).status).toBe(422)
    expect((await ask('GET', '/events', { headers: { 'last-event-id': 'x' } })).status).toBe(422)
  })

  test('the stream begins with a snapshot frame and goes on with what happens', async () => {
    const [frames] = await Promise.all([contract.readStream('/events', 3), createAgent()])
    const seqs = frames.map((frame) => Number(/^id: (\d+)$/m.exec(frame)?.[1]))
    expect(frames[0]).toMatch(/^event: snapshot\nid: \d+\ndata: \{"seq":\d+\}$/)
    expect(seqs).toEqual([seqs[0], (seqs[0] ?? 0) + 1, (seqs[0] ?? 0) + 2])
    const again = await contract.readStream(`/events?after=${seqs[0]}`, 3)
    expect(again.slice(1)).toEqual(frames.slice(1))
  })
})

describe('an agent', () => {
  let boss: TerminalBody
  let worker: TerminalBody
  let stranger: TerminalBody
  let headers: Record<string, string>
  beforeAll(async () => {
    boss = await createAgent()
    worker = await addAgent(boss.session_name, { caller_id: boss.id })
    stranger = await createAgent()
    headers = { 'x-cao-capability': await real.capability(boss.id) }
  })

  test('acts only as itself', async () => {
    const forged = await ask('POST', `/terminals/${worker.id}/inbox/messages?message=x&sender_id=${stranger.id}`, {
      headers,
    })
    expect([forged.status, forged.body]).toEqual([
      403,
      { detail: `sender_id must be ${boss.id}: an agent acts only as itself`, code: 'FORBIDDEN' },
    ])
    const own = await ask('POST', `/terminals/${worker.id}/inbox/messages?message=x`, { headers })
    expect(own.body).toMatchObject({ success: true, sender_id: boss.id })
    const query = `agent_profile=developer&provider=scripted&caller_id=${stranger.id}`
    expect((await ask('POST', `/sessions/${boss.session_name}/terminals?${query}`, { headers })).status).toBe(403)
    const job = { kind: 'assign', agent_profile: 'developer', message: 'x', caller_id: stranger.id }
    expect((await ask('POST', '/jobs', { headers, body: job })).status).toBe(403)
  })

  test.each([
    ['DELETE', ''],
    ['POST', '/input?message=x'],
    ['POST', '/key?key=Enter'],
    ['POST', '/exit'],
    ['POST', '/answer?answer=1'],
    ['POST', '/inbox/messages?message=x'],
    ['GET', '/inbox/messages'],
    ['GET', '/output'],
    ['PATCH', '/metadata'],
  ])('can not touch an agent that is not of its team: %s %s', async (method, path) => {
    const answer = await ask(method, `/terminals/${stranger.id}${path}`, { headers })
    expect([answer.status, answer.body]).toMatchObject([403, { code: 'FORBIDDEN' }])
  })

  test('can not answer its own prompt, press its own keys or end everything', async () => {
    const answers = await Promise.all([
      ask('POST', `/terminals/${boss.id}/answer?answer=1`, { headers }),
      ask('POST', `/terminals/${boss.id}/key?key=Enter`, { headers }),
      ask('POST', `/terminals/${boss.id}/input?message=x`, { headers }),
      ask('POST', '/shutdown-all', { headers }),
      ask('DELETE', `/sessions/${boss.session_name}`, { headers }),
      ask('GET', '/events', { headers }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403])
  })

  test('with a capability that is not known is nobody, not a person', async () => {
    const answer = await ask('GET', '/sessions', { headers: { 'x-cao-capability': 'made-up' } })
    expect([answer.status, answer.body]).toMatchObject([401, { code: 'UNAUTHORIZED' }])
  })

  test('may end its own worker, and its capability ends with it', async () => {
    const capability = await real.capability(worker.id)
    expect((await ask('DELETE', `/terminals/${worker.id}`, { headers })).body).toEqual({ success: true })
    expect((await ask('GET', '/sessions', { headers: { 'x-cao-capability': capability } })).status).toBe(401)
  })
})

test('shutting down ends every session and says which agents it has ended', async () => {
  const live = (await ask('GET', '/terminals')).body as TerminalBody[]
  const answer = await ask('POST', '/shutdown-all')
  const { deleted, ...rest } = answer.body as { deleted: string[] }
  expect([answer.status, rest]).toEqual([200, { success: true, errors: [] }])
  expect(deleted.toSorted()).toEqual(live.map(({ id }) => id).toSorted())
  expect((await ask('GET', '/sessions')).body).toEqual([])
})

test('every answer that a route declares is asked for here', () => {
  expect(contract.untested()).toEqual([])
})
