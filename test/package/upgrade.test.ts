/**
 * Another version in another folder takes over while agents of the first one run, and the first one is removed: what agents
 * hold on to (hook, tools, output) lies in CAO_HOME or in their own processes.
 */
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/async/clock-system.ts'
import { sleep } from '../../src/async/wait.ts'
import { createClient } from '../../src/client/client.ts'
import { parseServerFile } from '../../src/protocol/home.ts'
import { protocolVersion } from '../../src/protocol/version.ts'
import { Installed, nodeFolder, pack } from './installed.case.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })
const waitLimitMs = 20_000
let folder = ''
let packed = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cao-packed-'))
  packed = await pack(folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const open = async () => Installed.open(packed, { nodePath: await nodeFolder(24), isBare: true })

/** Replaces a text in the programs of a prefix, as a later version would have it. */
async function edit(prefix: string, from: string, to: string): Promise<void> {
  const dist = join(prefix, 'lib', 'node_modules', 'cao', 'dist')
  let edits = 0
  for (const name of await readdir(dist)) {
    if (!name.endsWith('.mjs')) continue
    const text = await readFile(join(dist, name), 'utf8')
    if (!text.includes(from)) continue
    await writeFile(join(dist, name), text.replaceAll(from, to))
    edits++
  }
  expect(edits, from).toBeGreaterThan(0)
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endMs = systemClock.monotonicMs() + waitLimitMs
  while (!(await isSo())) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`gave up waiting for ${what}`)
    await sleep(systemClock, 100)
  }
}

async function launch(cao: Installed, session: string): Promise<string> {
  const words = ['launch', '--agents', 'developer', '--provider', 'scripted', '--session-name', session, '--json']
  const ran = await cao.run(words)
  expect(ran).toMatchObject({ code: 0 })
  return (JSON.parse(ran.out) as { readonly id: string }).id
}

async function statusOf(cao: Installed, id: string): Promise<string> {
  const rows = JSON.parse((await cao.run(['ls', '--json'])).out) as readonly { id: string; status: string }[]
  return rows.find((row) => row.id === id)?.status ?? 'not there'
}

/** In the same session, where agents may write to one another. */
async function launchBeside(cao: Installed, session: string): Promise<string> {
  const file = parseServerFile(await readFile(cao.layout.serverFile, 'utf8'))
  const client = createClient({ socketPath: file?.socket_path ?? '' })
  const request = { agent_profile: 'developer', provider: 'scripted', working_directory: join(cao.folder, 'project') }
  return (await client.createTerminal(session, request)).id
}

test('agents that run go on over an upgrade: hooks, tools, output, messages and the turn that was under way', async () => {
  await using cao = await open()
  const worker = await launch(cao, 'one')
  const boss = await launchBeside(cao, 'cao-one')
  const tell = (text: string) =>
    `call send_message ${JSON.stringify({ receiver_id: worker, message: text })}\nreply told`
  expect(await cao.run(['send', boss, tell('before')])).toMatchObject({ code: 0 })
  await until('the first message', async () => (await cao.run(['output', worker])).out.includes('before'))
  expect(await cao.run(['send', worker, 'slow 6\nreply the end of a long turn'])).toMatchObject({ code: 0 })

  const next = join(cao.folder, 'next')
  await cao.install(packed, next, { nodePath: await nodeFolder(24), isBare: true })
  await edit(next, 'version = "0.1.0"', 'version = "0.2.0"')
  expect(await cao.run(['server', 'stop'])).toMatchObject({ code: 0 })
  // The old installation is gone as a whole; the new one lies elsewhere.
  await rename(cao.prefix, join(cao.folder, 'gone'))
  await rm(join(cao.folder, 'gone'), { recursive: true })
  cao.use(next)

  expect(await cao.run(['server', 'start'])).toMatchObject({ code: 0 })
  expect((await cao.run(['server', 'status'])).out).toContain('version 0.2.0')
  await until('the long turn to end', async () => (await statusOf(cao, worker)) === 'completed')
  expect(await cao.run(['output', worker])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/the end of a long turn\n$/),
  })
  // The boss's tools are a process of the version that is gone.
  expect(
    (await cao.processes()).filter((line) => line.includes('prefix') && line.includes('cao-mcp-server')).length,
  ).toBe(2)
  expect(await cao.run(['send', boss, tell('after')])).toMatchObject({ code: 0 })
  await until('the second message', async () => (await cao.run(['output', worker])).out.includes('after'))
  expect((await cao.run(['explain', worker])).out).toContain('hook: TurnEnded')
  expect((await cao.run(['output', boss])).out).toBe('told\n')
  const third = await launch(cao, 'three')
  expect(await statusOf(cao, third)).toBe('idle')
})

test('a command and a server that speak different protocols say which is older and what to do', async () => {
  await using cao = await open()
  const older = cao.prefix
  const newer = join(cao.folder, 'newer')
  await cao.install(packed, newer, { nodePath: await nodeFolder(24), isBare: true })
  await edit(newer, `protocolVersion = ${protocolVersion};`, `protocolVersion = ${protocolVersion + 1};`)
  expect(await cao.run(['server', 'start'])).toMatchObject({ code: 0 })
  cao.use(newer)
  const early = await cao.run(['ls'])
  expect(early).toMatchObject({
    code: 9,
    out: '',
    err: expect.stringContaining('"cao server stop" ends it, agents go on'),
  })
  expect(await cao.run(['server', 'stop'])).toMatchObject({ code: 0 })
  expect(await cao.run(['ls'])).toMatchObject({ code: 0 })
  cao.use(older)
  expect(await cao.run(['ls'])).toMatchObject({ code: 9, err: expect.stringContaining('use the cao of that version') })
  const doctor = await cao.run(['doctor'])
  expect(doctor).toMatchObject({ code: 9, out: expect.stringContaining('use the cao of that version') })
  cao.use(newer)
})
