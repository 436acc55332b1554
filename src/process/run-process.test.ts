import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { sleep } from '../async/wait.ts'
import { type ProcessOptions, runProcess } from './run-process.ts'

const dir = mkdtempSync(join(tmpdir(), 'cao-run-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const run = (argv: readonly string[], changes: Partial<ProcessOptions> = {}) =>
  runProcess({
    clock: systemClock,
    argv,
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...changes,
  })

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') !== true
  } catch {
    return false
  }
}

async function gone(pid: number): Promise<boolean> {
  const endMs = systemClock.monotonicMs() + 10_000
  while (isAlive(pid) && systemClock.monotonicMs() < endMs) await sleep(systemClock, 20)
  return !isAlive(pid)
}

test('words reach the program as they are, and what it says comes back with its code', async () => {
  const script = 'printf "%s|" "$@"; echo no >&2; exit 3'
  expect(await run(['sh', '-c', script, 'x', 'a b', '$(id)', "it's", ''])).toEqual({
    kind: 'exited',
    code: 3,
    stdout: "a b|$(id)|it's||",
    stderr: 'no\n',
  })
})

test('it gets its input, exactly the environment that was given, and no other descriptor of ours', async () => {
  const script =
    'cat; env | sort | grep -v "^_=\\|^PWD=\\|^SHLVL=\\|^OLDPWD="; test -e /proc/self/fd/4 && echo leak; true'
  const result = await run(['sh', '-c', script], { stdin: 'in «ü»\n', env: { PATH: '/usr/bin:/bin', ONE: '1' } })
  expect(result).toMatchObject({ kind: 'exited', stdout: 'in «ü»\nONE=1\nPATH=/usr/bin:/bin\n' })
})

test('a program that does not read its input is no fault, and one that is not there has the code of a shell', async () => {
  expect(await run(['true'], { stdin: 'x'.repeat(300_000) })).toMatchObject({ kind: 'exited', code: 0 })
  expect(await run(['no-such-program-of-cao'])).toMatchObject({ kind: 'exited', code: 127 })
  expect(await run(['true'], { cwd: join(dir, 'nowhere') })).toMatchObject({ kind: 'not-started' })
  for (const cwd of ['/etc/passwd', `/${'x'.repeat(5_000)}`, '/a\0b']) {
    expect(await run(['true'], { cwd })).toMatchObject({ kind: 'not-started' })
  }
})

test('output beyond the limit is dropped, and the program goes on to its end', async () => {
  const result = await run(['sh', '-c', 'yes | head -c 3000000; echo end >&2'], { outputBytesMax: 1_000 })
  expect(result).toMatchObject({ kind: 'exited', code: 0, stderr: 'end\n' })
  expect(result.kind === 'exited' && result.stdout.length).toBe(1_000)
})

test('a deadline and an abort end the whole group, also one that ignores the asking', async () => {
  const script = `trap '' TERM; sleep 300 & echo $!; wait`
  const late = await run(['sh', '-c', script], { timeoutMs: 500 })
  expect(late).toMatchObject({ kind: 'timed-out', afterMs: 500 })
  expect(await gone(Number(late.kind === 'timed-out' ? late.stdout : Number.NaN))).toBe(true)

  const file = join(dir, 'pid')
  const stop = new AbortController()
  const running = run(['sh', '-c', `echo $$ > ${file}; exec sleep 300`], { signal: stop.signal })
  while (!/\d\n/.test(readIfThere(file))) await sleep(systemClock, 20)
  stop.abort('enough')
  expect(await running).toEqual({ kind: 'aborted', reason: 'enough' })
  expect(await gone(Number(readIfThere(file)))).toBe(true)
  expect(await run(['true'], { signal: stop.signal })).toEqual({ kind: 'aborted', reason: 'enough' })
})

test('what is left running does not keep the result back', async () => {
  const result = await run(['sh', '-c', 'sleep 300 & echo $!'])
  const pid = Number(result.kind === 'exited' ? result.stdout : Number.NaN)
  expect([result.kind, isAlive(pid)]).toEqual(['exited', true])
  process.kill(pid, 'SIGKILL')
})

test('a server that is killed takes what it runs with it', async () => {
  const file = join(dir, 'orphan')
  const module = join(import.meta.dirname, 'run-process.ts')
  const clock = join(import.meta.dirname, '..', 'async', 'clock-system.ts')
  const server = `
    const { runProcess } = await import(${JSON.stringify(module)})
    const { systemClock: clock } = await import(${JSON.stringify(clock)})
    const argv = ['sh', '-c', 'echo $$ > ${file}; exec sleep 300']
    void runProcess({ clock, argv, cwd: '/', env: process.env, timeoutMs: 300000, signal: new AbortController().signal })
    setInterval(() => { try { if (require('fs').readFileSync('${file}')) process.kill(process.pid, 'SIGKILL') } catch {} }, 20)`
  await run([
    process.execPath,
    '--input-type=module',
    '-e',
    `import { createRequire } from 'node:module'; const require = createRequire('/'); ${server}`,
  ])
  const pid = Number(readIfThere(file))
  expect(pid).toBeGreaterThan(1)
  expect(await gone(pid)).toBe(true)
})

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
