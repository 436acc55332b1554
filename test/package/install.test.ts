/** Packed, installed into an empty prefix under each Node that CAO is for, and at work there without the checkout. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { version } from '../../src/lib/version.ts'
import { checkout, Installed, nodeFolder, pack } from './installed.case.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })
let folder = ''
let packed = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cao-packed-'))
  packed = await pack(folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Finding = { readonly what: string; readonly detail: string }

/** An answer, the checks and the demo, from the installed programs alone. */
async function tryOut(installed: Installed, nodeMajor: string): Promise<void> {
  expect(await installed.run(['--version'])).toEqual({ code: 0, out: `cao ${version}\n`, err: '' })
  const launched = await installed.run([
    'launch',
    '--agents',
    'developer',
    '--provider',
    'scripted',
    '--headless',
    'hi',
  ])
  expect(launched).toMatchObject({ code: 0, out: 'You said: hi\n' })
  const doctor = await installed.run(['doctor', '--json'])
  const findings = JSON.parse(doctor.out) as readonly Finding[]
  expect(findings.find(({ what }) => what === 'node')?.detail).toMatch(new RegExp(`^${nodeMajor}\\.`))
  expect(findings.find(({ what }) => what === 'server')?.detail).toContain(`version ${version}`)
  const demo = await installed.run(['demo'])
  expect({ code: demo.code, last: demo.out.trimEnd().split('\n').at(-1) }).toEqual({ code: 0, last: 'demo: ok' })
  // The Node that lies in PATH is the one thing that may stand in the checkout.
  const nodes = join(checkout, '.cache', 'nodes')
  const commands = (await installed.processes()).map((command) => command.replaceAll(nodes, ''))
  expect(commands.some((command) => command.includes('cao-server'))).toBe(true)
  expect(commands.filter((command) => command.includes(checkout))).toEqual([])
}

test('the package holds the programs, the profiles and what is to be read, and nothing of the workshop', async () => {
  await using installed = await Installed.open(packed, { nodePath: await nodeFolder(24), isBare: true })
  const root = join(installed.prefix, 'lib', 'node_modules', 'cao')
  expect((await readdir(root)).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'TERMS.md',
    'bin',
    'dist',
    'docs',
    'package.json',
    'profiles',
    'skills',
  ])
  const files = await readdir(root, { recursive: true })
  expect(files.filter((name) => /\.ts$|\btest\b|fixture|chaos|compile-cache|\.stamp/.test(name))).toEqual([])
  expect((await readdir(join(root, 'bin'))).toSorted()).toEqual(
    (await readdir(join(installed.prefix, 'bin'))).toSorted(),
  )
})

test('a server and the tools of an agent are read whole at their start, so that their folder may be replaced under them', async () => {
  const dist = join(checkout, 'dist')
  const seen = new Set<string>()
  const read = async (name: string): Promise<void> => {
    if (seen.has(name)) return
    seen.add(name)
    const text = await readFile(join(dist, name), 'utf8')
    expect(text.includes('import("./'), name).toBe(false)
    for (const [, next = ''] of text.matchAll(/(?:from|import) ?"\.\/([^"]+)"/g)) await read(next)
  }
  for (const name of ['cao-server.main.mjs', 'cao-mcp-server.main.mjs']) await read(name)
  expect(seen.size).toBeGreaterThan(5)
})

test('it works with the Node that npm brings along, also where PATH has an older one', async () => {
  await using installed = await Installed.open(packed, { nodePath: await nodeFolder(24), isBare: false })
  const old = join(installed.folder, 'old')
  await mkdir(old)
  await writeFile(join(old, 'node'), '#!/bin/sh\necho v18.0.0\n')
  await chmod(join(old, 'node'), 0o755)
  installed.env['PATH'] = `${old}:${installed.env['PATH'] ?? ''}`
  await tryOut(installed, '24')
})

test('it works under Node 26 from PATH, where no Node could come along', async () => {
  await using installed = await Installed.open(packed, { nodePath: await nodeFolder(26), isBare: true })
  await tryOut(installed, '26')
})

test('without any Node that is new enough it says which one is needed', async () => {
  await using installed = await Installed.open(packed, { nodePath: await nodeFolder(24), isBare: true })
  const poor = join(installed.folder, 'poor')
  await mkdir(poor)
  for (const tool of ['sh', 'readlink']) await symlink(`/bin/${tool}`, join(poor, tool))
  const ran = await installed.run(['ls'], { PATH: poor })
  expect(ran).toMatchObject({ code: 69, out: '', err: expect.stringContaining('cao needs Node 24 or newer') })
})

test('uninstalling leaves nothing in the prefix', async () => {
  await using installed = await Installed.open(packed, { nodePath: await nodeFolder(24), isBare: true })
  await installed.run(['--version'])
  await installed.uninstall()
  expect(await readdir(join(installed.prefix, 'lib', 'node_modules'))).toEqual([])
  expect(await readdir(join(installed.prefix, 'bin'))).toEqual([])
})
