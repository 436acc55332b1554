/**
 * A job outlives whatever happens around it: the agent's call that times out, servers that die by kill -9, a question in the middle,
 * the death of tmux. Its answer is fetched by the key under which it was asked for, and its work is done once.
 */
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseServerFile } from '../src/protocol/home.ts'
import { crashServer, endedJob, recorded, timesTaken } from './restart.case.ts'
import { readIfThere, TestWorld, until } from './world.case.ts'

const root = join(import.meta.dirname, '..')
let world: TestWorld
const open: Client[] = []
beforeEach(async () => {
  world = await TestWorld.open()
  await world.startServer()
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()))
  await world[Symbol.asyncDispose]()
})

/** The tools as the MCP child of this agent has them. */
async function connectAs(id: string): Promise<Client> {
  const { layout, env } = world.world
  const client = new Client({ name: 'test', version: '1' })
  const own = {
    ...env,
    CAO_TERMINAL_ID: id,
    CAO_CAPABILITY_FILE: join(layout.terminalsDir, id, 'capability'),
    CAO_SOCKET: parseServerFile(readIfThere(layout.serverFile))?.socket_path ?? '',
    CAO_OUTBOX: layout.outboxDir,
  }
  const command = join(root, 'bin', 'cao-mcp-server')
  await client.connect(new StdioClientTransport({ command, args: [], env: own, stderr: 'ignore' }))
  open.push(client)
  return client
}

const workerOf = (boss: string) =>
  until(`a worker of ${boss}`, 20_000, async () =>
    (await world.client.listTerminals()).find(({ caller_id }) => caller_id === boss),
  )

test('a handoff whose call times out, whose server dies twice and whose worker asks ends with the right answer, by its key', async () => {
  const boss = await world.agent()
  const client = await connectAs(boss)
  const rules = ['the night shift', 'wait 1500', 'ask Which colour? | red | blue', 'wait 1500', 'reply forty-two']
  const handoff = {
    name: 'handoff',
    arguments: { agent_profile: 'developer', message: rules.join('\n'), request_key: 'night', timeout: 300 },
  }
  await expect(client.callTool(handoff, undefined, { timeout: 1_500 })).rejects.toThrow(/timed out/i)
  const worker = await workerOf(boss)
  await recorded(world, worker.id, 'user', 'the night shift')
  await crashServer(world)
  const question = await until('the question', 30_000, async () => (await world.client.listQuestions(worker.id))[0])
  const [listed] = await world.client.listJobs({ caller_id: boss, state: 'open' })
  expect(listed).toMatchObject({ request_key: 'night', attention: { kind: 'question', question_id: question.id } })
  await crashServer(world)
  await world.waitForStatus(worker.id, 'waiting_user_answer')
  await world.client.answerQuestion(worker.id, { answer: 'blue', question_id: question.id })
  const { structuredContent: said } = await client.callTool(handoff, undefined, { timeout: 60_000 })
  expect(said).toMatchObject({ success: true, output: 'forty-two', job_id: listed?.id, terminal_id: worker.id })
  const fetched = await client.callTool({ name: 'job_result', arguments: { job_id: listed?.id } })
  expect(fetched.structuredContent).toMatchObject({ success: true, output: 'forty-two', is_open: false })
  expect(await world.client.listJobs()).toHaveLength(1)
  const told = await world.client.listMessages(boss)
  expect(told.filter(({ orchestration_type }) => orchestration_type === 'callback')).toEqual([])
})

test('a job whose worker was being started when the server died is begun by the next one, and done once', async () => {
  const boss = await world.agent()
  const request = {
    kind: 'assign' as const,
    agent_profile: 'developer',
    provider: 'scripted',
    message: 'once only\nreply done',
    caller_id: boss,
    request_key: 'k',
    working_directory: world.world.projectDir,
  }
  const lost = world.client.startJob(request).catch(() => undefined)
  const row = await until('the job', 10_000, async () => (await world.client.listJobs())[0])
  await crashServer(world)
  await lost
  const again = await world.client.startJob(request)
  const job = await endedJob(world, row.id)
  expect([again.id, job.state, job.output]).toEqual([row.id, 'answered', 'done'])
  const workers = (await world.client.listTerminals()).filter(({ caller_id }) => caller_id === boss)
  expect(workers.filter(({ id }) => timesTaken(world, id, 'once only') > 0)).toHaveLength(1)
})

test('a worker that dies with all of tmux ends its job, and its asker is told when it is back', async () => {
  const boss = await world.agent()
  const job = await world.client.startJob({
    kind: 'assign',
    agent_profile: 'developer',
    provider: 'scripted',
    message: 'hang',
    caller_id: boss,
    working_directory: world.world.projectDir,
  })
  await recorded(world, job.terminal_id ?? '', 'user', 'hang')
  world.tmux('kill-server')
  expect(await endedJob(world, job.id)).toMatchObject({ state: 'failed', ending: 'worker_lost' })
  await world.client.recoverTerminal(boss, {})
  await recorded(world, boss, 'user', 'has failed: its worker')
})
