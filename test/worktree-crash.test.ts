/** A server that is killed while it makes a worktree leaves nothing at work, nothing that stays, and nothing in the way of a second try. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { findProcesses } from '../src/world/find-processes.ts'
import { TestWorld, until } from './world.case.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 90_000 })
let world: TestWorld
let dir: string
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
  dir = join(realpathSync(world.world.folder), 'repo')
  mkdirSync(join(dir, '.cao'), { recursive: true })
  writeFileSync(join(dir, 'a.txt'), 'a\n')
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '-m', 'first')
})
afterAll(() => world[Symbol.asyncDispose]())

function git(...args: readonly string[]): string {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...who, ...args], { cwd: dir, env: world.world.env, encoding: 'utf8' }).trim()
}

const launch = () =>
  world.client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory: dir,
    use_worktree: true,
  })

async function killWhile(what: string, isThere: () => boolean): Promise<void> {
  const lost = launch().then(
    () => 'made',
    () => 'lost',
  )
  await until(what, 30_000, () => (isThere() ? true : undefined))
  await world.endServer('SIGKILL')
  expect(await lost).toBe('lost')
}

async function expectNothingLeft(): Promise<void> {
  const { worktreesDir } = world.world.layout
  await until('nothing to be left', 60_000, async () => {
    const rows = await world.client.listWorktrees({ look: false })
    return rows.length === 0 && readdirSync(worktreesDir).length === 0 ? true : undefined
  })
  expect([git('branch', '--format=%(refname:short)'), git('worktree', 'list').split('\n').length]).toEqual(['main', 1])
}

test('killed during the set-up: the set-up ends with it, and the next start takes everything back', async () => {
  const started = join(world.world.folder, 'started')
  writeFileSync(
    join(dir, '.cao', 'worktree.json'),
    JSON.stringify({ setup: ['sh', '-c', `echo half > half; touch ${started}; sleep 100`] }),
  )
  const { digest } = await world.client.showWorktreeSetup(dir)
  await world.client.trustWorktreeSetup(dir, digest ?? undefined)
  await killWhile('the set-up to run', () => existsSync(started))
  await until('the set-up to end with its server', 20_000, async () => {
    const left = await findProcesses(world.world.layout.worktreesDir)
    return left.length === 0 ? true : undefined
  })
  await world.startServer()
  await expectNothingLeft()
})

test("killed during git's own work: the next start takes everything back, and a second try is one agent in one worktree", async () => {
  await world.client.trustWorktreeSetup(dir, undefined)
  // A filter that waits holds the checkout where it is.
  const started = join(world.world.folder, 'filtering')
  // The person's own configuration: that of the repository is not run.
  git('config', '--global', 'filter.slow.smudge', `sh -c 'touch ${started}; sleep 100'`)
  writeFileSync(join(dir, '.gitattributes'), 'a.txt filter=slow\n')
  git('add', '.gitattributes')
  git('commit', '--quiet', '-m', 'slow')
  await killWhile('git to check out', () => existsSync(started))
  await world.startServer()
  await expectNothingLeft()
  git('config', '--global', '--unset', 'filter.slow.smudge')
  const terminal = await launch()
  expect(terminal).toMatchObject({ status: 'idle', worktree: { state: 'ready' } })
  expect(existsSync(join(terminal.worktree?.path ?? '', 'a.txt'))).toBe(true)
  expect(await world.client.deleteTerminal(terminal.id)).toEqual({ success: true })
  await expectNothingLeft()
})
