/** `cao rules` as a person runs it: rules of their own in the home, captures of living agents, and nothing of it needs a server but `record`. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestWorld } from './world.case.ts'

let world: TestWorld
const secret = 'dummy-secret-of-this-test'
beforeAll(async () => {
  world = await TestWorld.open({ DUMMY_API_KEY: secret })
})
afterAll(() => world[Symbol.asyncDispose]())

const ownRules = () => join(world.world.layout.home, 'rules', 'scripted.yaml')
const writeRules = (text: string) => {
  mkdirSync(join(world.world.layout.home, 'rules'), { recursive: true })
  writeFileSync(ownRules(), text)
}

test('lists the rules of a provider and where they come from', async () => {
  const { code, out } = await world.run('cao', ['rules', 'list', '--provider', 'scripted'])
  expect(code).toBe(0)
  expect(out).toContain('resting footer')
  expect(out).toContain('your own rules: none')
})

test('refuses what it can not do, by the table of exit codes', async () => {
  const codes = await Promise.all(
    [
      ['rules', 'test', '--provider', 'nobody', 'x'],
      ['rules', 'test', '--provider', 'scripted', '/nowhere.ansi'],
      ['rules', 'test', 'x'],
      ['rules', 'forget'],
      ['rules', 'record', '00000000'],
    ].map(async (args) => (await world.run('cao', args)).code),
  )
  expect(codes).toEqual([6, 4, 2, 2, 2])
})

test('a screen is recorded without secrets, is read back alike, and by the rules that a person adds', async () => {
  const client = await world.startServer()
  const agent = await world.agent({ session: 'recorded' })
  await client.sendInput(agent, { message: `reply key ${secret} end`, wait_s: 20 })
  await world.waitForStatus(agent, 'completed')

  const dir = join(world.world.folder, 'recording')
  const args = ['rules', 'record', agent, '--out', dir, '--name', 'rest']
  expect(await world.run('cao', args)).toMatchObject({ code: 0, out: expect.stringContaining('rest.ansi') as unknown })
  expect((await world.run('cao', args)).code).toBe(9)
  const read = (ending: string) => readFileSync(join(dir, `rest.${ending}`), 'utf8')
  for (const ending of ['ansi', 'txt', 'json']) expect(read(ending)).not.toContain(secret)
  expect(read('txt')).toContain(`key ${'*'.repeat(secret.length)} end`)
  expect(JSON.parse(read('json'))).toMatchObject({ provider: 'scripted', alternate: true })
  expect(statSync(join(dir, 'rest.ansi')).mode & 0o777).toBe(0o600)

  const tryIt = () => world.run('cao', ['rules', 'test', '--provider', 'scripted', '--json', join(dir, 'rest.ansi')])
  const line = { file: join(dir, 'rest.ansi'), status: 'idle', reason: 'ready', rule: 'resting footer' }
  expect(await tryIt()).toEqual({ code: 0, out: `${JSON.stringify(line)}\n`, err: '' })

  writeRules("rules: [{ name: mine, priority: 99, region: footer, all: ['Enter to send'], says: background }]")
  expect(JSON.parse((await tryIt()).out)).toEqual({ ...line, status: 'processing', reason: 'background', rule: 'mine' })
  writeRules('rules: [{ name: mine }]')
  expect(await tryIt()).toMatchObject({ code: 2, out: '', err: expect.stringContaining(ownRules()) as unknown })
}, 90_000)
