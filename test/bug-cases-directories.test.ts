/** Reported faults of working directories (WD of docs/bug-cases.md), tried on ours; those of worktrees are in worktrees.test.ts. */
import { mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentPid } from './incident.case.ts'
import { TestWorld } from './world.case.ts'

const scripted = { agent_profile: 'developer', provider: 'scripted' } as const
let world: TestWorld
let outside: string
beforeAll(async () => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'cao-outside-')))
  world = await TestWorld.open()
  const home = world.world.env['HOME'] ?? ''
  for (const name of ['.profile', '.bash_profile', '.bashrc', '.zshenv']) writeFileSync(join(home, name), 'cd /\n')
  await world.startServer({ env: { SHELL: '/bin/bash' } })
}, 60_000)
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  rmSync(outside, { recursive: true, force: true })
}, 60_000)

/** Where the agent's process really is. */
const cwdOf = (id: string): string => readlinkSync(`/proc/${agentPid(world, id)}/cwd`)

test('WD-01, WD-04: an agent starts where it was asked for, outside of HOME and through a link, whatever a shell does at its start', async () => {
  const place = join(outside, 'a b')
  mkdirSync(place)
  symlinkSync(place, join(outside, 'link'))
  for (const asked of [place, join(outside, 'link'), `${place}/../link/.`]) {
    const { id } = await world.client.createSession({ ...scripted, working_directory: asked })
    expect(cwdOf(id)).toBe(place)
    await world.client.deleteTerminal(id)
  }
})

test('WD-05: a worker starts in the directory that its caller was launched in, not where the server is', async () => {
  const boss = await world.client.createSession({ ...scripted, working_directory: outside })
  const worker = await world.client.createTerminal(boss.session_name, { ...scripted, caller_id: boss.id })
  const job = await world.client.startJob({
    kind: 'assign',
    agent_profile: 'developer',
    message: 'reply x',
    caller_id: boss.id,
  })
  expect([worker.id, job.terminal_id ?? ''].map(cwdOf)).toEqual([outside, outside])
  await world.client.deleteSession(boss.session_name)
})
