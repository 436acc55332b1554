/** What only the tmux backend has: people attached to it, its own repairs, and agents that use tmux themselves. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import { withDeadline } from '../../async/wait.ts'
import { makeTerminalId, type RandomHex, type SessionName } from '../../domain/ids.ts'
import { silentLog } from '../../lib/log.ts'
import { runProgram } from '../../tmux/run-program.ts'
import type { BackendFacts, BackendTerminal, OpenPlan, TerminalBackend } from '../backend.ts'
import { until } from '../conformance.case.ts'
import { createTmuxBackend } from './tmux-backend.ts'

const clock = systemClock
const waiting = { signal: new AbortController().signal }
const randomHex: RandomHex = (digits) => randomBytes(digits).toString('hex').slice(0, digits)

let dir: string
let backend: TerminalBackend
let facts: BackendFacts

function createIn(home: string, tmux = 'tmux'): TerminalBackend {
  return createTmuxBackend({
    clock,
    log: silentLog,
    randomHex,
    runDir: join(home, 'run'),
    terminalsDir: join(home, 'terminals'),
    env: { PATH: process.env['PATH'], HOME: home, LEAK: 'leaked' },
    tempDir: home,
    tmux,
  })
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cao-backend-'))
  backend = createIn(dir)
  facts = await backend.ensure(waiting)
})
afterAll(async () => {
  await backend.shutdown(waiting)
  await backend[Symbol.asyncDispose]()
  rmSync(dir, { recursive: true, force: true })
})

const sessionName = 'cao-own' as SessionName
async function open(script: string, more: Partial<OpenPlan> = {}): Promise<BackendTerminal> {
  const outcome = await backend.open(
    {
      terminalId: makeTerminalId(randomHex),
      sessionName,
      windowName: 'own',
      argv: ['/bin/sh', '-c', script],
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '', HOME: dir, LANG: 'C.UTF-8' },
      size: { cols: 90, rows: 30 },
      ...more,
    },
    waiting,
  )
  if (outcome.kind !== 'opened') throw new Error(outcome.detail)
  return outcome.terminal
}
async function screen(terminal: BackendTerminal): Promise<string> {
  const outcome = await terminal.capture({}, waiting)
  return outcome.kind === 'captured' ? outcome.snapshot.lines.join('\n') : '(gone)'
}
const shows = (terminal: BackendTerminal, wanted: string) =>
  until(`the screen to show ${wanted}`, async () => ((await screen(terminal)).includes(wanted) ? true : undefined))
async function tmux(...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm' }
  const all = ['-S', facts.details['socket'] ?? '', ...args]
  const result = await runProgram({ clock, file: 'tmux', args: all, env, timeoutMs: 5_000 })
  return result.kind === 'exited' ? result.stdout.trim() : JSON.stringify(result)
}

describe('a person at the terminals', () => {
  test('the attach command shows exactly the wanted pane, in a terminal of any size, and resizes nothing', async () => {
    const [first, second] = [await open('printf "the first"; sleep 60'), await open('printf "the second"; sleep 60')]
    await shows(second, 'the second')
    for (const [wanted, text] of [
      [first, 'the first'],
      [second, 'the second'],
    ] as const) {
      // A terminal of ours stands in for the person's.
      const argv = ['/usr/bin/env', 'TERM=xterm-256color', ...backend.attachArgv(sessionName, wanted.pane)]
      const viewer = await open('', { argv, sessionName: 'cao-viewer' as SessionName, size: { cols: 60, rows: 15 } })
      await shows(viewer, text)
      await viewer.press([{ kind: 'text', text: 'typed by a person' }], waiting)
      await shows(wanted, 'typed by a person')
      await viewer.destroy({ graceMs: 0 }, waiting)
    }
    const outcome = await first.capture({}, waiting)
    expect(outcome).toMatchObject({ kind: 'captured', snapshot: { size: { cols: 90, rows: 30 } } })
    await Promise.all([first, second].map((each) => each.destroy({ graceMs: 0 }, waiting)))
  })

  test('a pane that a person removes is told as an end without a code', async () => {
    const terminal = await open('sleep 60')
    await tmux('kill-pane', '-t', terminal.pane.paneId)
    expect(await withDeadline(clock, terminal.exited, 8_000, 'the exit')).toEqual({
      code: undefined,
      signal: undefined,
      atMs: expect.any(Number),
    })
    expect(await terminal.presence(waiting)).toBe('absent')
    await terminal.destroy({ graceMs: 0 }, waiting)
  })

  test('a pane that is moved and renamed by a person stays the same terminal', async () => {
    const [terminal, other] = [await open('printf "I moved"; sleep 60'), await open('sleep 60')]
    await tmux('rename-window', '-t', terminal.pane.paneId, 'renamed')
    await tmux('join-pane', '-d', '-s', terminal.pane.paneId, '-t', other.pane.paneId)
    await tmux('rename-session', '-t', `=${sessionName}`, 'elsewhere')
    await shows(terminal, 'I moved')
    const found = (await backend.list(waiting)).find((each) => each.terminalId === terminal.id)
    expect(found).toMatchObject({ pane: terminal.pane, sessionName: 'elsewhere' })
    await Promise.all([terminal, other].map((each) => each.destroy({ graceMs: 0 }, waiting)))
  })
})

describe('an agent that uses tmux itself', () => {
  test('sees no server of ours and can end none', async () => {
    const terminal = await open(
      'echo "<$TMUX$TMUX_PANE>"; tmux kill-server; tmux new-session -d -s inner "sleep 60"; tmux list-sessions; tmux kill-server; echo done; sleep 60',
    )
    await shows(terminal, 'done')
    const text = await screen(terminal)
    expect(text).toContain('<>')
    expect(text).toContain('inner: 1 windows')
    expect(text).not.toMatch(/cao-own|keeper/)
    expect((await backend.ensure(waiting)).instanceId).toBe(facts.instanceId)
    await terminal.destroy({ graceMs: 0 }, waiting)
  })
})

describe('what lies on the disk', () => {
  test('only the user may read it, the launch file is gone, and nothing of our environment is in tmux', async () => {
    const terminal = await open('printf ready; sleep 60')
    await shows(terminal, 'ready')
    const home = join(dir, 'terminals', terminal.id)
    expect(existsSync(join(home, 'launch'))).toBe(false)
    const modes = [home, join(home, 'output.log'), facts.details['socket'] ?? ''].map(
      (path) => statSync(path).mode & 0o077,
    )
    expect(modes).toEqual([0, 0, 0])
    expect(await tmux('show-environment', '-g')).not.toContain('leaked')
    await terminal.paste('x', { mark: 'm' }, waiting)
    expect(readFileSync(join(home, 'output.log'), 'utf8')).toContain('ready')
    await terminal.destroy({ graceMs: 0 }, waiting)
  })

  test('a removed log is made again, the gap is told, and the follower goes on', async () => {
    const terminal = await open('while :; do echo tick; sleep 0.1; done')
    let text = ''
    let gaps = 0
    using _following = terminal.follow(0, (chunk) => {
      text += Buffer.from(chunk.bytes).toString()
      if (chunk.gapBytes > 0) gaps++
    })
    await until('output', () => (text.includes('tick') ? true : undefined))
    rmSync(join(dir, 'terminals', terminal.id, 'output.log'))
    await until('the log', () => (existsSync(join(dir, 'terminals', terminal.id, 'output.log')) ? true : undefined))
    await until('a gap', () => (gaps > 0 ? true : undefined))
    const before = text.length
    await until('more output', () => (text.length > before ? true : undefined))
    expect(gaps).toBe(1)
    await terminal.destroy({ graceMs: 0 }, waiting)
  })
})

test("a person's split beside an agent goes when its program has ended, and the agent stays", async () => {
  const terminal = await open('echo here; exec cat')
  await shows(terminal, 'here')
  const split = await tmux('split-window', '-d', '-P', '-F', '#{pane_id}', '-t', terminal.pane.paneId, 'true')
  await until('the split to go', async () => {
    const panes = (await tmux('list-panes', '-a', '-F', '#{pane_id}')).split('\n')
    return panes.includes(split.trim()) ? undefined : panes
  })
  expect(await terminal.presence(waiting)).toBe('present')
  await terminal.destroy({ graceMs: 0 }, waiting)
})

describe('finding tmux', () => {
  test('a missing tmux is a sentence that says what to do, and starts nothing', async () => {
    await using without = createIn(join(dir, 'without'), 'no-such-tmux')
    await expect(without.ensure(waiting)).rejects.toMatchObject({
      code: 'SETUP_MISSING',
      message: expect.stringContaining('apt install tmux'),
    })
  })

  test('a home that is too deep for a socket works too, and several starts at once give one server', async () => {
    const deep = join(dir, 'x'.repeat(60), 'y'.repeat(60))
    await using one = createIn(deep)
    await using two = createIn(deep)
    const [a, b] = await Promise.all([one.ensure(waiting), two.ensure(waiting)])
    expect(a).toEqual(b)
    expect(Buffer.byteLength(a.details['socket'] ?? '')).toBeLessThan(100)
    await one.shutdown(waiting)
    rmSync(join(a.details['socket'] ?? '', '..'), { recursive: true })
  })
})
