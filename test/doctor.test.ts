/** `cao doctor` on the whole system: the tmux version with its dangers, the server, what is left over, and what to do. */
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FindingBody } from '../src/protocol/doctor.ts'
import { TestWorld } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

async function doctor(): Promise<{ readonly code: number; readonly about: (what: string) => readonly FindingBody[] }> {
  const { code, out } = await world.run('cao', ['doctor', '--json'])
  const findings = JSON.parse(out) as readonly FindingBody[]
  return { code, about: (what) => findings.filter((each) => each.what === what) }
}

test('all is well: version, dangers, server, options, connection, no leftovers', async () => {
  await world.agent()
  const { code, about } = await doctor()
  expect(code).toBe(0)
  const pid = world.tmux('display-message', '-p', '#{pid}').trim()
  expect(about('tmux server')).toMatchObject([{ level: 'ok', detail: expect.stringContaining(`pid ${pid} `) }])
  expect(about('tmux options')).toMatchObject([{ level: 'ok', detail: expect.stringContaining('exit-empty off') }])
  expect(about('tmux connection')).toMatchObject([{ level: 'ok' }])
  expect(about('tmux clients')).toMatchObject([{ level: 'ok', detail: '0 attached' }])
  expect(about('tmux K10')).toMatchObject([{ level: 'ok', detail: expect.stringContaining('makes its socket again') }])
  for (const what of ['leftover panes', 'leftover folders']) {
    expect(about(what)).toEqual([{ what, level: 'ok', detail: 'none' }])
  }
  const { out } = await world.run('cao', ['doctor'])
  expect(out).toMatch(/tmux K10 +ok +a removed socket/)
})

test('what is left over or was changed is named with what to do about it, and nothing of it is touched', async () => {
  const stray = ['new-session', '-d', '-s', 'cao-stray', 'sleep', '600', ';', 'set-option', '-p', '@cao_terminal_id']
  world.tmux(...stray, 'deadbeef')
  mkdirSync(join(world.world.layout.terminalsDir, 'feedface'))
  world.tmux('set-option', '-s', 'exit-empty', 'on')
  const { code, about } = await doctor()
  expect(about('leftover panes')).toMatchObject([
    { level: 'note', detail: expect.stringMatching(/^%\d+ in cao-stray .*deadbeef.*kill-pane/) },
  ])
  expect(about('leftover folders')).toMatchObject([{ level: 'note', detail: expect.stringContaining('feedface') }])
  expect(about('tmux options')).toMatchObject([{ level: 'fail', detail: expect.stringContaining('exit-empty') }])
  expect(code).not.toBe(0)
  expect(world.tmux('has-session', '-t', '=cao-stray')).toBe('')
  // The cure that it names.
  expect((await world.run('cao', ['server', 'stop'])).code).toBe(0)
  await world.startServer()
  expect((await doctor()).about('tmux options')).toMatchObject([{ level: 'ok' }])
})

test('a folder of the home that this user can not use is named, and a server does not start on it', async () => {
  const { terminalsDir, outboxDir } = world.world.layout
  // Root may use what it has no right to; what belongs to somebody else it can make, and others can not.
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(terminalsDir, 12_345, 12_345)
  else chmodSync(terminalsDir, 0)
  const { code, about } = await doctor()
  expect(code).not.toBe(0)
  expect(about('permissions')).toEqual([
    {
      what: 'permissions',
      level: 'fail',
      detail: expect.stringMatching(`^${terminalsDir} (belongs to user 12345|can not be used)`),
    },
  ])
  if (isRoot) chownSync(terminalsDir, 0, 0)
  else chmodSync(terminalsDir, 0o700)
  expect((await doctor()).about('permissions')).toEqual([])
  await world.endServer('SIGTERM')
  rmSync(outboxDir, { recursive: true })
  writeFileSync(outboxDir, 'a file where a folder has to be')
  const ran = await world.run('cao', ['init'])
  expect(ran).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining(`the folder ${outboxDir} can not be made or used`),
  })
  rmSync(outboxDir)
  const made = await world.run('cao', ['init'])
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining(`database  ${world.world.layout.dbFile}`) })
  expect(await world.run('cao', ['server', 'stop'])).toMatchObject({ code: 0 })
}, 60_000)
