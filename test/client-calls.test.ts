/**
 * Our client has a method for every route, and no method that is none: each is called once against a plain HTTP server that writes down what
 * it is asked. The compiler asks for a line here for each method.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Client, createClient } from '../src/client/client.ts'
import { templateOf } from '../src/server/openapi.ts'
import { routes } from '../src/server/routes.ts'

const part = '{}'
/** Stands for any parameters: what they hold is another test's. */
const any = { agent_profile: 'x', message: 'x' } as never

const calls: { readonly [name in keyof Client]: (client: Client) => readonly Promise<unknown>[] } = {
  health: (client) => [client.health()],
  getOpenApi: (client) => [client.getOpenApi()],
  getOAuthMetadata: (client) => [client.getOAuthMetadata()],
  doctor: (client) => [client.doctor()],
  listProviders: (client) => [client.listProviders()],
  listProfiles: (client) => [client.listProfiles()],
  getProfile: (client) => [client.getProfile(part)],
  searchProfiles: (client) => [client.searchProfiles('x')],
  getProfileSchema: (client) => [client.getProfileSchema()],
  listTemplates: (client) => [client.listTemplates()],
  getTemplateSchema: (client) => [client.getTemplateSchema(part, part)],
  validateTemplate: (client) => [client.validateTemplate('x', {})],
  previewTemplate: (client) => [client.previewTemplate('x', {})],
  validateProfile: (client) => [client.validateProfile('x')],
  installProfile: (client) => [client.installProfile(any)],
  saveProfile: (client) => [client.saveProfile(any)],
  removeProfile: (client) => [client.removeProfile(part)],
  listSkills: (client) => [client.listSkills()],
  getSkill: (client) => [client.getSkill(part)],
  getAgentDirs: (client) => [client.getAgentDirs()],
  setAgentDirs: (client) => [client.setAgentDirs([])],
  getSkillDirs: (client) => [client.getSkillDirs()],
  setSkillDirs: (client) => [client.setSkillDirs([])],
  getMemorySettings: (client) => [client.getMemorySettings()],
  createSession: (client) => [client.createSession(any)],
  listSessions: (client) => [client.listSessions()],
  getSession: (client) => [client.getSession(part)],
  deleteSession: (client) => [client.deleteSession(part)],
  shutdownAll: (client) => [client.shutdownAll()],
  createTerminal: (client) => [client.createTerminal(part, any)],
  listTerminals: (client) => [client.listTerminals(), client.listTerminals(part)],
  getTerminal: (client) => [client.getTerminal(part)],
  deleteTerminal: (client) => [client.deleteTerminal(part)],
  recoverTerminal: (client) => [client.recoverTerminal(part, {})],
  recoverAll: (client) => [client.recoverAll({})],
  adopt: (client) => [client.adopt()],
  purge: (client) => [client.purge({})],
  getWorkingDirectory: (client) => [client.getWorkingDirectory(part)],
  listSiblings: (client) => [client.listSiblings(part)],
  setGroup: (client) => [client.setGroup(part, null)],
  setMetadata: (client) => [client.setMetadata(part, null)],
  sendInput: (client) => [client.sendInput(part, any)],
  holdQueue: (client) => [client.holdQueue(part), client.holdQueue(part, any)],
  releaseQueue: (client) => [client.releaseQueue(part)],
  sendCommand: (client) => [client.sendCommand(part, any)],
  pressKey: (client) => [client.pressKey(part, 'Enter')],
  exitTerminal: (client) => [client.exitTerminal(part)],
  readOutput: (client) => [client.readOutput(part, 'full')],
  readOutputRange: (client) => [client.readOutputRange(part, { offset: 0 })],
  explain: (client) => [client.explain(part)],
  captureScreen: (client) => [client.captureScreen(part)],
  attachArgv: (client) => [client.attachArgv(part)],
  sendMessage: (client) => [client.sendMessage(part, any)],
  listMessages: (client) => [client.listMessages(part)],
  searchMessages: (client) => [client.searchMessages()],
  resendMessage: (client) => [client.resendMessage(part as never)],
  dropMessage: (client) => [client.dropMessage(part as never)],
  getMessage: (client) => [client.getMessage(part as never)],
  listQuestions: (client) => [client.listQuestions(), client.listQuestions(part)],
  answerQuestion: (client) => [client.answerQuestion(part, any)],
  startJob: (client) => [client.startJob(any)],
  getJob: (client) => [client.getJob(part)],
  cancelJob: (client) => [client.cancelJob(part)],
  listJobs: (client) => [client.listJobs()],
  retryJob: (client) => [client.retryJob(part)],
  reportJob: (client) => [client.reportJob(part, any)],
  runStep: (client) => [client.runStep(any)],
  getNotify: (client) => [client.getNotify()],
  testNotify: (client) => [client.testNotify()],
  listWorktrees: (client) => [client.listWorktrees()],
  removeWorktree: (client) => [client.removeWorktree(part)],
  showWorktreeSetup: (client) => [client.showWorktreeSetup('/x')],
  trustWorktreeSetup: (client) => [client.trustWorktreeSetup('/x', undefined)],
  listEvents: (client) => [client.listEvents()],
  streamEvents: (client) => [firstFrame(client)],
}

/** The stream begins; what it tells is no part of this. */
async function firstFrame(client: Client): Promise<unknown> {
  const stop = new AbortController()
  for await (const frame of client.streamEvents({ signal: stop.signal })) return frame
  return undefined
}

test('each route has its method of the client, and each method its route', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'cao-client-'))
  const socketPath = join(dir, 's')
  const asked = new Set<string>()
  const server = createServer((incoming, outgoing) => {
    const path = decodeURIComponent(incoming.url?.split('?')[0] ?? '')
    asked.add(`${incoming.method} ${path}`)
    const isStream = path === '/events'
    outgoing.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    outgoing.end(isStream ? 'event: snapshot\nid: 1\ndata: {"seq":1}\n\n' : '{}')
  })
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  try {
    const client = createClient({ socketPath })
    for (const call of Object.values(calls)) await Promise.all(call(client))
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await rm(dir, { recursive: true })
  }
  const declared = routes.map(({ method, pattern }) => `${method} ${templateOf(pattern).replaceAll(/\{\w+\}/g, part)}`)
  expect([...asked].toSorted()).toEqual([...new Set(declared)].toSorted())
})

test('no front end writes a path by hand', async () => {
  const starts = new Set(routes.map(({ pattern }) => pattern.split('/')[1]))
  const byHand = new RegExp(`['"\`]/(${[...starts].join('|')})['"\`/?$]`)
  const src = join(import.meta.dirname, '..', 'src')
  const found: string[] = []
  for (const folder of ['cli', 'mcp', 'client', 'world', 'demo', 'chaos']) {
    const files = (await readdir(join(src, folder), { recursive: true })).filter((name) =>
      /(?<!\.test)\.ts$/.test(name),
    )
    for (const name of files) {
      if (byHand.test(await readFile(join(src, folder, name), 'utf8'))) found.push(`${folder}/${name}`)
    }
  }
  expect(found).toEqual([])
})
