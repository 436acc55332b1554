/**
 * Jobs as agents use them, on the whole real CAO: each typed end within seconds, results that are fetched later, reports of workers, work
 * that is called off, checks and who may ask for them. Answers that come after a false end still arrive.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JobBody } from '../src/protocol/job.ts'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { eventually, RealServer, waitForQuestion } from './real-server.case.ts'

const program = join(import.meta.dirname, '..', 'src', 'main', 'cao-mcp-server.ts')
// A machine that is busy with other suites is slow, not wrong.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 90_000 })
let real: RealServer
let boss: TerminalBody
let tools: Client
let dir: string
const open: Client[] = []

beforeAll(async () => {
  real = await RealServer.start()
  dir = join(real.home, 'project')
  await mkdir(dir)
  const { agentStoreDir } = real.config.layout
  await mkdir(agentStoreDir, { recursive: true })
  const free = '---\nname: free\ndescription: runs what it likes\npermissionMode: allow\n---\nDo it.\n'
  await writeFile(join(agentStoreDir, 'free.md'), free)
  boss = await createBoss()
  tools = await connectAs(boss)
})
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()))
  await real[Symbol.asyncDispose]()
})

const createBoss = (given: Readonly<Record<string, unknown>> = {}) =>
  real.client.createSession({
    agent_profile: 'code_supervisor',
    provider: 'scripted',
    working_directory: dir,
    ...given,
  })

/** The tools as the MCP child of `terminal` has them. */
async function connectAs({ id }: Pick<TerminalBody, 'id'>): Promise<Client> {
  const { layout } = real.config
  const env = {
    CAO_TERMINAL_ID: id,
    CAO_CAPABILITY_FILE: join(layout.terminalsDir, id, 'capability'),
    CAO_SOCKET: real.socketPath,
    CAO_OUTBOX: layout.outboxDir,
  }
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], env, stderr: 'ignore' }))
  open.push(client)
  return client
}

type Said = Readonly<Record<string, unknown>> & { readonly success: boolean }
async function call(client: Client, name: string, args: Readonly<Record<string, unknown>>): Promise<Said> {
  const { structuredContent } = await client.callTool({ name, arguments: args }, undefined, { timeout: 90_000 })
  return structuredContent as Said
}
const task = (message: string) => ({ agent_profile: 'developer', message })
const textOf = (words: string) => expect.stringContaining(words) as unknown
const statusOf = async (id: string) => (await real.client.getTerminal(id)).status
const ended = (id: string): Promise<JobBody> =>
  eventually(`the end of ${id}`, async () => {
    const job = await real.client.getJob(id, 20)
    return job.is_open ? undefined : job
  })
const told = async (words: string) =>
  (await real.client.listMessages(boss.id, { limit: 100 })).filter(({ message }) => message.includes(words))

type Begun = { readonly id: string; readonly worker: string }
/** A handoff that nobody waits for, with its worker at work. */
async function begin(message: string, more: Readonly<Record<string, unknown>> = {}): Promise<Begun> {
  const said = await call(tools, 'handoff', { ...task(message), wait: false, ...more })
  expect(said).toMatchObject({ success: true, output: null })
  return { id: String(said['job_id']), worker: String(said['terminal_id']) }
}

describe('each end of a worker ends its job with its reason', () => {
  test('it fails, exits, is deleted, meets a limit', async () => {
    const begun = ['error 500', 'error 429', 'crash 3', 'hang'].map((rule) => begin(rule))
    const [failing, limited, exiting, deleted] = (await Promise.all(begun)) as [Begun, Begun, Begun, Begun]
    await eventually('the worker at work', async () =>
      (await statusOf(deleted.worker)) === 'processing' ? true : undefined,
    )
    await real.client.deleteTerminal(deleted.worker)
    const ends = await Promise.all([failing, limited, exiting, deleted].map(({ id }) => ended(id)))
    expect(ends.map(({ state, ending }) => [state, ending])).toEqual([
      ['failed', 'turn_failed'],
      ['failed', 'turn_failed'],
      ['failed', 'worker_exited'],
      ['failed', 'worker_deleted'],
    ])
    expect(new Set(ends.map((job) => job.failure)).size).toBe(4)
    for (const { id } of ends) {
      const fetched = await call(tools, 'job_result', { job_id: id })
      expect(fetched).toMatchObject({ success: false, is_open: false, message: textOf('did not answer') })
    }
  })

  test.concurrent('it hangs: the job ends, the worker is left, and what it says after all is brought', async () => {
    const { id, worker } = await begin('freeze 32000\nreply awake again')
    expect(await ended(id)).toMatchObject({ state: 'failed', ending: 'hung', failure: textOf('hangs') })
    expect(await real.client.getTerminal(worker)).toMatchObject({ life: 'live' })
    await eventually('the late answer', async () => ((await told('awake again')).length > 0 ? true : undefined), 90_000)
    expect(await real.client.getJob(id)).toMatchObject({ state: 'answered', output: 'awake again' })
  })

  test.concurrent('nothing proves that it took the task: the job ends, and the answer of a late proof is brought', async () => {
    const { id: worker } = await real.client.createTerminal(boss.session_name, {
      agent_profile: 'developer',
      provider: 'scripted',
      working_directory: dir,
      caller_id: boss.id,
    })
    await real.client.sendInput(worker, { message: 'swallow-enter 9\nreply ready' })
    await eventually('rest', async () => ((await statusOf(worker)) === 'completed' ? true : undefined))
    const job = await real.client.startJob({
      kind: 'assign',
      agent_profile: 'developer',
      message: 'reply it was there',
      caller_id: boss.id,
      reuse_terminal_id: worker,
    })
    expect(await ended(job.id)).toMatchObject({ state: 'failed', ending: 'unconfirmed' })
    expect(await told('nothing proves that its worker took the task')).toHaveLength(1)
    for (let press = 0; press < 9; press++) await real.client.pressKey(worker, 'Enter')
    await eventually(
      'the late answer',
      async () => ((await told('it was there')).length > 0 ? true : undefined),
      60_000,
    )
    expect(await real.client.getJob(job.id)).toMatchObject({ state: 'answered', output: 'it was there' })
  })

  test('it asks: whoever waits sees it in the progress and, when time is up, in the result', async () => {
    const said: string[] = []
    const onprogress = ({ message }: { message?: string | undefined }) => said.push(String(message))
    const args = { ...task('ask Which colour? | red | blue'), timeout: 8 }
    const { structuredContent } = await tools.callTool({ name: 'handoff', arguments: args }, undefined, {
      onprogress,
      timeout: 60_000,
    })
    expect(said.at(-1)).toMatch(
      /waits for an answer \(answer_user_prompt, question_id q-[a-f0-9]{8}\): Which colour\?\n1\. red/,
    )
    expect(structuredContent).toMatchObject({ success: false, message: textOf('waits for an answer') })
    const { id } = (await real.client.listJobs({ caller_id: boss.id, limit: 1 }))[0] ?? { id: '' }
    expect(await real.client.getJob(id)).toMatchObject({ state: 'timed_out', ending: 'timed_out' })
  })
})

describe('an agent', () => {
  test('looks after what it gave away while another call of it waits', async () => {
    const waiting = call(tools, 'handoff', { ...task('wait 6000\nreply slow'), request_key: 'slow' })
    const { id } = await begin('ask Which? | a | b')
    const line = await eventually('the question in the list', async () => {
      const { jobs } = await call(tools, 'job_status', {})
      return (jobs as { job_id: string; now: string }[]).find(
        ({ job_id, now }) => job_id === id && now.includes('waits for an answer'),
      )
    })
    expect(line).toMatchObject({ role: 'you asked for it', state: 'running', headline: 'ask Which? | a | b' })
    expect(await call(tools, 'job_result', { job_id: id })).toMatchObject({ success: false, is_open: true })
    expect(await call(tools, 'job_cancel', { job_id: id })).toMatchObject({ success: true, state: 'cancelled' })
    expect(await call(tools, 'job_cancel', { job_id: id })).toMatchObject({ success: true, state: 'cancelled' })
    expect(await waiting).toMatchObject({ success: true, output: 'slow' })
    expect(await call(tools, 'handoff', { ...task('wait 6000\nreply slow'), request_key: 'slow' })).toEqual(
      await waiting,
    )
    const other = await call(tools, 'handoff', { ...task('something else'), request_key: 'slow' })
    expect(other).toMatchObject({ success: false, code: 'CONFLICT' })
  })

  test('fetches a result, and is not told of it once more', async () => {
    const { id } = await begin('wait 500\nreply fetched by hand')
    expect(await call(tools, 'job_result', { job_id: id, wait_s: 60 })).toMatchObject({ output: 'fetched by hand' })
    const { id: pushed } = await begin('reply pushed by itself')
    await eventually('the message', async () => ((await told('pushed by itself')).length > 0 ? true : undefined))
    expect(await ended(pushed)).toMatchObject({ state: 'answered' })
    expect(await told('fetched by hand')).toEqual([])
  })

  test('reports its own result, and the end of its turn does not end the task twice', async () => {
    const report = JSON.stringify({ result: 'it is right as it is', status: 'no_change_needed' })
    const said = await call(tools, 'handoff', task(`call report_result ${report}\nwait 1000\nreply and good bye`))
    expect(said).toMatchObject({
      success: true,
      output: 'it is right as it is',
      message: textOf('says that no change is needed'),
    })
    const job = await real.client.getJob(String(said['job_id']))
    expect(job).toMatchObject({ state: 'answered', ending: 'no_change_needed', output: 'it is right as it is' })
    const failing = JSON.stringify({ result: 'there is no such file', status: 'failed' })
    const failed = await call(tools, 'handoff', task(`call report_result ${failing}\nreply sorry`))
    expect(failed).toMatchObject({ success: false, message: textOf('there is no such file') })
    expect(await call(tools, 'report_result', { result: 'x' })).toMatchObject({ success: false, code: 'CONFLICT' })
    expect(await call(tools, 'report_result', { result: 'x', job_id: said['job_id'] })).toMatchObject({
      code: 'FORBIDDEN',
    })
  })

  test('may ask for checks only if it could run them by itself', async () => {
    const checks = ['test -e marker || { touch marker; echo not yet; exit 1; }']
    expect(await call(tools, 'handoff', { ...task('reply x'), checks })).toMatchObject({
      success: false,
      code: 'FORBIDDEN',
      message: textOf('may not ask for checks'),
    })
    const limited = await createBoss({ agent_profile: 'free', allowed_tools: ['fs_read', '@cao-mcp-server'] })
    expect(await call(await connectAs(limited), 'assign', { ...task('reply x'), checks })).toMatchObject({
      code: 'FORBIDDEN',
    })
    const free = await createBoss({ agent_profile: 'free' })
    const said = await call(await connectAs(free), 'handoff', { ...task('reply done'), checks })
    expect(said).toMatchObject({ success: true, output: expect.any(String) as unknown })
    expect(await real.client.getJob(String(said['job_id']))).toMatchObject({
      state: 'answered',
      checks: [{ passed: true, how: 'exit code 0' }],
    })
  })

  test('gives another task to an idle worker of its own where it asks for that', async () => {
    const own = await createBoss()
    const client = await connectAs(own)
    const first = await call(client, 'handoff', { ...task('reply one'), reuse_idle: true })
    const second = await call(client, 'handoff', { ...task('reply two'), reuse_idle: true })
    const fresh = await call(client, 'handoff', task('reply three'))
    expect([first, second, fresh].map(({ output }) => output)).toEqual(['one', 'two', 'three'])
    expect(second['terminal_id']).toBe(first['terminal_id'])
    expect(fresh['terminal_id']).not.toBe(first['terminal_id'])
  })
})

test('a question is answered while its handoff is not waited for, and the answer is fetched', async () => {
  const { id, worker } = await begin('ask Which? | red | blue\nreply thanks')
  const question = await waitForQuestion(real, worker)
  await eventually('the question to reach its asker', async () =>
    (await told(`and question_id ${question.id}`)).length > 0 ? true : undefined,
  )
  const args = { terminal_id: worker, answer: 'blue', question_id: question.id }
  expect(await call(tools, 'answer_user_prompt', args)).toMatchObject({ success: true })
  expect(await call(tools, 'job_result', { job_id: id, wait_s: 60 })).toMatchObject({ output: 'thanks' })
})
