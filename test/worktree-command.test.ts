/** `cao worktree`, `cao notify` and `cao launch --worktree` as a person types them. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { TestWorld } from './world.case.ts'

let world: TestWorld
let dir: string
beforeAll(async () => {
  world = await TestWorld.open({ CAO_NOTIFY_COMMAND: '["sh","-c","cat > heard"]', CAO_NOTIFY_QUIET: '00:00-23:59' })
  dir = world.world.projectDir
  await world.startServer()
  mkdirSync(join(dir, '.cao'))
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '-m', 'first')
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

function git(...args: readonly string[]): string {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...who, ...args], { cwd: dir, env: world.world.env, encoding: 'utf8' }).trim()
}
const cao = (...args: readonly string[]) => world.run('cao', args)

test('a worktree is launched, listed, kept with what is in it, and removed only by force', async () => {
  expect(await cao('worktree', 'list')).toMatchObject({ code: 0, out: 'no worktrees\n' })
  const launched = await cao('launch', '--agents', 'developer', '--provider', 'scripted', '--worktree', '--json')
  const { id, worktree } = JSON.parse(launched.out) as TerminalBody
  expect(launched.err).toContain(`its worktree is ${worktree?.path}, branch cao-developer-${id}`)
  const inUse = await cao('worktree', 'list')
  expect(inUse.out).toMatch(/^TERMINAL +PROFILE +STATE +CHANGED +AHEAD +BRANCH +PATH\n/)
  expect(inUse.out).toContain('in use')
  writeFileSync(join(worktree?.path ?? '', 'made'), '')
  expect((await cao('worktree', 'remove', id, '--force')).code).toBe(9)
  await world.client.deleteTerminal(id)
  expect((await cao('worktree')).out).toMatch(new RegExp(`${id} +developer +kept +1 +0 `))
  expect((await cao('ls')).err).toContain('cao worktree list')
  const refused = await cao('worktree', 'remove', id)
  expect([refused.code, refused.err]).toEqual([9, expect.stringContaining('1 changed file')])
  expect(await cao('worktree', 'remove', id, '--force')).toMatchObject({
    code: 0,
    out: `the worktree of ${id} is removed\n`,
  })
  expect(existsSync(worktree?.path ?? '')).toBe(false)
  expect((await cao('worktree', 'remove', id)).code).toBe(4)
  expect((await cao('worktree', 'burn')).code).toBe(2)
})

test('a set-up is shown before it is allowed, and nobody allows it where nobody can be asked', async () => {
  expect((await cao('worktree', 'trust')).code).toBe(4)
  writeFileSync(join(dir, '.cao', 'worktree.json'), '{"setup": ["sh", "-c", "touch ready"]}')
  const silent = await cao('worktree', 'trust')
  expect([silent.code, silent.out]).toEqual([2, expect.stringContaining("sh -c 'touch ready'")])
  expect(await cao('worktree', 'trust', '--yes')).toMatchObject({ code: 0 })
  const launched = await cao('launch', '--agents', 'developer', '--provider', 'scripted', '--worktree', '--json')
  const { id, working_directory } = JSON.parse(launched.out) as TerminalBody
  expect(existsSync(join(working_directory, 'ready'))).toBe(true)
  expect((await cao('worktree', 'forbid')).out).toContain('no set-up')
  await world.client.deleteTerminal(id)
})

test('nothing in the command of a set-up is hidden from whoever is to allow it', async () => {
  const setup = ['sh', '-c', 'echo \u001b]0;; touch owned #\u0007\ntouch x\u202e']
  writeFileSync(join(dir, '.cao', 'worktree.json'), JSON.stringify({ setup }))
  const shown = await cao('worktree', 'trust')
  expect(shown.out).toContain("sh -c 'echo \\u{1b}]0;; touch owned #\\u{7}\\u{a}touch x\\u{202e}'")
  const nowhere = await cao('worktree', 'trust', join(dir, 'nowhere'))
  expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('there is no such directory')])
})

test('how one is told is shown, and tried also in quiet hours', async () => {
  const shown = await cao('notify')
  // What the set-up made was not ignored, so that worktree was kept.
  expect(shown.out).toContain('command: 1 due, not used yet\n')
  expect(shown.out).toContain('not between 00:00 and 23:59')
  expect(await cao('notify', 'test')).toMatchObject({ code: 0, out: 'command: told\n' })
  expect(existsSync(join(world.world.layout.home, 'heard'))).toBe(true)
  expect((await cao('notify', 'loudly')).code).toBe(2)
})
