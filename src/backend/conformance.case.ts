/**
 * What every backend must do, as one suite that each implementation runs against its real thing.
 * Programs are small shell scripts; what they print and read is compared byte for byte.
 */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { sleep, withDeadline } from '../async/wait.ts'
import { makeTerminalId, parseSessionName, type SessionName, type TerminalId } from '../domain/ids.ts'
import type { BackendFacts, BackendTerminal, OpenPlan, OutputChunk, TerminalBackend } from './backend.ts'

export type BackendHarness = {
  readonly name: string
  /** A backend that keeps all it has under `dir`; a second one with the same `dir` finds what the first left. */
  create(dir: string): TerminalBackend
  /** Ends the backend's server as a crash would; undefined where none outlives its process. */
  readonly crashServer?: (facts: BackendFacts) => void
}

const clock = systemClock
const waiting = { signal: new AbortController().signal }
let counter = 0
const randomHex = (digits: number): string => (++counter).toString(16).padStart(digits, '0')
const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Waits, at most ten seconds, until `look` gives a value. */
export async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadlineMs = clock.monotonicMs() + 10_000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (clock.monotonicMs() > deadlineMs) throw new Error(`gave up waiting for ${what}`)
    await sleep(clock, 10)
  }
}

const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/\) [ZX] /.test(stat)
  } catch {
    return false
  }
}

/** Registers the suite for one backend. */
export function describeBackend(harness: BackendHarness): void {
  describe(`the ${harness.name} backend`, () => {
    let dir: string
    let backend: TerminalBackend
    let facts: BackendFacts

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'cao-backend-'))
      mkdirSync(join(dir, 'work'))
      backend = harness.create(dir)
      facts = await backend.ensure(waiting)
    })
    afterAll(async () => {
      await backend.shutdown(waiting)
      await backend[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    })

    const session = (name: string): SessionName => {
      const parsed = parseSessionName(name)
      if (parsed === undefined) throw new Error(`no session name: ${name}`)
      return parsed
    }
    const plan = (script: string, more: Partial<OpenPlan> = {}): OpenPlan => ({
      terminalId: makeTerminalId(randomHex),
      sessionName: session('cao-suite'),
      windowName: 'suite',
      argv: ['/bin/sh', '-c', script],
      cwd: join(dir, 'work'),
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: dir, LANG: 'C.UTF-8' },
      size: { cols: 80, rows: 24 },
      ...more,
    })
    async function open(script: string, more: Partial<OpenPlan> = {}): Promise<BackendTerminal> {
      const outcome = await backend.open(plan(script, more), waiting)
      if (outcome.kind !== 'opened') throw new Error(`not opened: ${outcome.detail}`)
      return outcome.terminal
    }
    async function lines(terminal: BackendTerminal, options = {}): Promise<readonly string[]> {
      const outcome = await terminal.capture(options, waiting)
      return outcome.kind === 'captured' ? outcome.snapshot.lines : ['(gone)']
    }
    const shows = (terminal: BackendTerminal, wanted: string) =>
      until(`the screen to show ${wanted}`, async () =>
        (await lines(terminal)).some((line) => line.includes(wanted)) ? true : undefined,
      )
    /** A program that puts its input, byte for byte, into a file. */
    async function openReader(name: string, setUp = '') {
      const path = join(dir, name)
      const terminal = await open(`stty raw -echo; printf '${setUp}ready'; exec cat > '${path}'`)
      await shows(terminal, 'ready')
      return { terminal, path }
    }
    const got = (path: string, length: number) =>
      until(`${length} bytes in ${path}`, () => (readFileSync(path).length >= length ? readFileSync(path) : undefined))
    const log = async (terminal: BackendTerminal) =>
      Buffer.from(await terminal.readOutput(0, await terminal.outputLength())).toString('utf8')
    const exitOf = (terminal: BackendTerminal) => withDeadline(clock, terminal.exited, 10_000, 'the exit')

    test('finding its server again changes nothing', async () => {
      expect(await backend.ensure(waiting)).toEqual(facts)
    })

    describe('opening', () => {
      test('the very first byte is in the log, and the screen shows it', async () => {
        const terminal = await open(`printf 'FIRST'; sleep 60`)
        await shows(terminal, 'FIRST')
        expect(await log(terminal)).toBe('FIRST')
        expect(terminal.pane.instanceId).toBe(facts.instanceId)
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('the agent has exactly the planned environment and the planned directory', async () => {
        const value = `it's "$HOME" #{pid} \\ ; é🙂\nsecond line`
        const env = { PATH: '/usr/bin:/bin', ODD: value, EMPTY: '' }
        const path = join(dir, 'env')
        const terminal = await open(`env -0 > '${path}'; pwd > '${path}.pwd'; printf done; sleep 60`, { env })
        await shows(terminal, 'done')
        const seen = readFileSync(path, 'utf8')
          .split('\0')
          .filter((each) => each !== '')
        const byName = Object.fromEntries(
          seen.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
        )
        expect(byName).toMatchObject(env)
        const own = new Set(['PATH', 'ODD', 'EMPTY', 'TERM', 'PWD', 'TMUX_TMPDIR', 'SHLVL', '_', 'OLDPWD', 'COLORTERM'])
        expect(Object.keys(byName).filter((name) => !own.has(name))).toEqual([])
        expect(readFileSync(`${path}.pwd`, 'utf8').trim()).toBe(join(dir, 'work'))
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('arguments arrive exactly, whatever is in them', async () => {
        const odd = [
          '',
          'a b',
          "it's",
          '"q"',
          '$HOME',
          '#{pid}',
          '#(touch x)',
          ';',
          'end;',
          '\\',
          '-n',
          'é🙂',
          'two\nlines',
          '~',
          '%Y',
        ]
        const path = join(dir, 'argv')
        const argv = ['/bin/sh', '-c', `printf '%s\\0' "$@" > '${path}'; printf done; sleep 60`, 'x', ...odd]
        const terminal = await open('', { argv })
        await shows(terminal, 'done')
        expect(readFileSync(path, 'utf8')).toBe(odd.map((each) => `${each}\0`).join(''))
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('no argument of any process shows a value of the environment', async () => {
        const terminal = await open(`printf ready; sleep 60`, {
          env: { PATH: '/usr/bin:/bin', SECRET: 'hunter2-secret' },
        })
        await shows(terminal, 'ready')
        const pid = (await terminal.agentPid()) ?? 0
        expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('hunter2-secret')
        const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
        expect(readFileSync(`/proc/${parent}/cmdline`, 'utf8')).not.toContain('hunter2')
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('a missing directory or program and an agent that ends at once are refused, and nothing is left', async () => {
        const before = await backend.list(waiting)
        const notExecutable = join(dir, 'no-program')
        writeFileSync(notExecutable, '')
        chmodSync(notExecutable, 0o600)
        const plans: [OpenPlan, object][] = [
          [plan('', { cwd: '/no/such/dir' }), { reason: 'cwd-missing', detail: '/no/such/dir is no directory' }],
          [plan('', { argv: ['/no/such/program'] }), { reason: 'program-missing' }],
          [plan('', { argv: [notExecutable] }), { reason: 'program-missing' }],
          [plan('', { argv: [dir] }), { reason: 'program-missing' }],
          [
            plan('echo wrong option; exit 3'),
            { reason: 'ended-at-once', detail: expect.stringMatching(/code 3.*wrong option/) },
          ],
        ]
        for (const [each, wanted] of plans) {
          expect(await backend.open(each, waiting)).toMatchObject({ kind: 'refused', ...wanted })
        }
        expect(await backend.list(waiting)).toEqual(before)
        expect(plans.filter(([each]) => existsSync(join(dir, 'terminals', each.terminalId)))).toEqual([])
      })

      test('twelve at once, in a session that is new and in others, are all there and none is mixed up', async () => {
        const opened = await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            open(`printf 'I am ${index}'; sleep 60`, {
              sessionName: session(`cao-many-${index % 3}`),
              windowName: `w${index}`,
            }),
          ),
        )
        const found = await backend.list(waiting)
        for (const [index, terminal] of opened.entries()) {
          await shows(terminal, `I am ${index}`)
          expect(await log(terminal)).toBe(`I am ${index}`)
          expect(found.find((each) => each.terminalId === terminal.id)).toEqual({
            terminalId: terminal.id,
            pane: terminal.pane,
            sessionName: `cao-many-${index % 3}`,
            windowName: `w${index}`,
            isDead: false,
          })
        }
        await Promise.all(opened.map((terminal) => terminal.destroy({ graceMs: 0 }, waiting)))
      })

      test('a window name is a label: nothing in it is executed', async () => {
        const windowName = `#(touch ${dir}/executed) #S ; 'x`
        const terminal = await open('sleep 60', { windowName })
        const found = await backend.list(waiting)
        expect(found.find((each) => each.terminalId === terminal.id)?.windowName).toBe(windowName)
        expect(existsSync(join(dir, 'executed'))).toBe(false)
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('an open that nobody waits for any more leaves no agent', async () => {
        const controller = new AbortController()
        const abandoned = plan('sleep 61')
        const opening = backend.open(abandoned, { signal: controller.signal })
        controller.abort(new Error('no longer wanted'))
        await expect(opening).rejects.toThrow('no longer wanted')
        await sleep(clock, 300)
        await until('it to be gone', async () =>
          (await backend.list(waiting)).some((each) => each.terminalId === abandoned.terminalId) ? undefined : true,
        )
      })
    })

    describe('looking', () => {
      test('a snapshot has lines, title, cursor, size and the alternate screen', async () => {
        const terminal = await open(
          `printf '\\033]2;my title é\\007\\033[?1049h\\033[3;5Hhéllo 漢字 \\\\ $HOME'; sleep 60`,
          {
            size: { cols: 100, rows: 30 },
          },
        )
        await shows(terminal, 'héllo')
        const outcome = await terminal.capture({}, waiting)
        expect(outcome).toMatchObject({
          kind: 'captured',
          snapshot: {
            size: { cols: 100, rows: 30 },
            isAlternate: true,
            mode: undefined,
            isInputOff: false,
            cursor: { x: 22, y: 2 },
          },
        })
        if (outcome.kind !== 'captured') return
        expect(outcome.snapshot.lines[2]).toBe('    héllo 漢字 \\ $HOME')
        if (backend.capabilities.has('reports-title')) expect(outcome.snapshot.title).toBe('my title é')
        expect(Math.abs(outcome.snapshot.atMs - clock.nowMs())).toBeLessThan(5_000)
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('history and attributes come only when asked for', async () => {
        const terminal = await open(
          `for i in $(seq 1 60); do echo line $i; done; printf '\\033[1mbold\\033[0m'; sleep 60`,
        )
        await shows(terminal, 'bold')
        expect((await lines(terminal))[0]).not.toBe('line 1')
        expect((await lines(terminal, { historyLines: 200 }))[0]).toBe('line 1')
        expect((await lines(terminal)).join('\n')).not.toContain('\x1b')
        expect((await lines(terminal, { styled: true })).join('\n')).toContain('\x1b[1mbold')
        await terminal.destroy({ graceMs: 0 }, waiting)
      })
    })

    describe('the output log', () => {
      test('a follower gets every byte once and in order, through a flood', async () => {
        const terminal = await open(`for i in $(seq 1 20000); do echo "line $i"; done; printf END; sleep 60`)
        const chunks: OutputChunk[] = []
        using _following = terminal.follow(0, (chunk) => chunks.push({ ...chunk, bytes: Uint8Array.from(chunk.bytes) }))
        const text = () => Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString('utf8')
        await until('the end', () => (text().endsWith('END') ? true : undefined))
        expect(text()).toBe(`${Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}\r\n`).join('')}END`)
        let offset = 0
        for (const chunk of chunks) {
          expect([chunk.offset, chunk.gapBytes]).toEqual([offset, 0])
          offset += chunk.bytes.length
        }
        expect(await terminal.outputLength()).toBe(offset)
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('following starts at any offset, is told of new output within a moment, and stops when disposed', async () => {
        const { terminal } = await openReader('follow')
        const echo = await open(`printf 0123456789; read x; printf more; read x; printf last; sleep 60`)
        await until('ten bytes', async () => ((await echo.outputLength()) === 10 ? true : undefined))
        const seen: string[] = []
        const following = echo.follow(4, (chunk) => seen.push(`${chunk.offset}:${Buffer.from(chunk.bytes).toString()}`))
        await until('the rest', () => (seen.length > 0 ? true : undefined))
        expect(seen).toEqual(['4:456789'])
        const pressedMs = clock.monotonicMs()
        await echo.press([{ kind: 'key', name: 'Enter' }], waiting)
        await until('more', () => (seen.join('').includes('more') ? true : undefined))
        expect(clock.monotonicMs() - pressedMs).toBeLessThan(1_000)
        following[Symbol.dispose]()
        const before = seen.length
        await echo.press([{ kind: 'key', name: 'Enter' }], waiting)
        await until('last', async () => ((await log(echo)).includes('last') ? true : undefined))
        expect(seen).toHaveLength(before)
        await Promise.all([terminal, echo].map((each) => each.destroy({ graceMs: 0 }, waiting)))
      })

      test('parts can be read by offset', async () => {
        const terminal = await open(`printf 0123456789; sleep 60`)
        await until('ten bytes', async () => ((await terminal.outputLength()) === 10 ? true : undefined))
        const read = async (offset: number, length: number) =>
          Buffer.from(await terminal.readOutput(offset, length)).toString()
        expect([await read(0, 3), await read(8, 100), await read(10, 5), await read(99, 5)]).toEqual([
          '012',
          '89',
          '',
          '',
        ])
        await terminal.destroy({ graceMs: 0 }, waiting)
      })
    })

    describe('input', () => {
      test('a paste of a megabyte arrives exactly', async () => {
        const { terminal, path } = await openReader('big')
        const text = `${'0123456789abcde\n'.repeat(65_536)}end é🙂;\\`
        expect(await terminal.paste(text, { mark: 'm' }, waiting)).toEqual({ kind: 'done' })
        expect(sha(await got(path, Buffer.byteLength(text)))).toBe(sha(Buffer.from(text)))
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test.each([
        ['only a word', 'Enter'],
        ['key names and dashes', '-l C-c'],
        ['a semicolon at the end', 'x;'],
        ['a backslash at the end', 'x\\'],
        ['quotes and expansions', `"'$HOME #(touch x) #{pid} ~ \`x\` %Y`],
        ['tabs, emoji, CJK and many lines', Array.from({ length: 40 }, (_, index) => `${index}\t🙂漢字`).join('\n')],
      ])('a paste of %s is one bracketed paste, byte for byte', async (_what, text) => {
        const { terminal, path } = await openReader(`paste-${randomHex(4)}`, '\\033[?2004h')
        expect(await terminal.paste(text, { mark: 'm' }, waiting)).toEqual({ kind: 'done' })
        const wanted = `\x1b[200~${text}\x1b[201~`
        expect((await got(path, Buffer.byteLength(wanted))).toString('utf8')).toBe(wanted)
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('nothing in a pasted text can end the bracket or act as a key', async () => {
        const { terminal, path } = await openReader('hostile', '\\033[?2004h')
        await terminal.paste('a\x1b[201~b\rc\x03\x00d\x9b201~\x7fe\r\nf', { mark: 'm' }, waiting)
        const wanted = '\x1b[200~a[201~b\ncd201~e\nf\x1b[201~'
        expect((await got(path, wanted.length)).toString('utf8')).toBe(wanted)
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('keys and typed text arrive in order', async () => {
        const { terminal, path } = await openReader('keys')
        const outcome = await terminal.press(
          [
            { kind: 'text', text: '-y; Enter' },
            { kind: 'key', name: 'Enter' },
            { kind: 'key', name: 'C-c' },
            { kind: 'key', name: 'Escape' },
            { kind: 'key', name: 'Up' },
            { kind: 'text', text: 'é;' },
          ],
          waiting,
        )
        expect(outcome).toEqual({ kind: 'done' })
        const wanted = '-y; Enter\r\x03\x1b\x1b[Aé;'
        expect((await got(path, Buffer.byteLength(wanted))).toString('utf8')).toBe(wanted)
        await expect(terminal.press([{ kind: 'key', name: 'NoSuchKey' }], waiting)).rejects.toMatchObject({
          code: 'BAD_REQUEST',
        })
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('input to an agent that has ended is refused, and all others live on', async () => {
        const bystander = await open('printf here; sleep 60')
        const terminal = await open('sleep 0.3; exit 0')
        await exitOf(terminal)
        await until('a refusal', async () => {
          const outcome = await terminal.paste('text', { mark: 'm' }, waiting)
          return outcome.kind === 'refused' ? true : undefined
        })
        expect(await terminal.press([{ kind: 'key', name: 'Enter' }], waiting)).toMatchObject({ kind: 'refused' })
        await terminal.destroy({ graceMs: 0 }, waiting)
        expect(await terminal.paste('text', { mark: 'm' }, waiting)).toEqual({ kind: 'refused', reason: 'gone' })
        await shows(bystander, 'here')
        await bystander.destroy({ graceMs: 0 }, waiting)
      })
    })

    test('a paste leaves its mark at the terminal, which another handle can read; a refused paste leaves none', async () => {
      const { terminal } = await openReader('marked')
      expect(await terminal.lastPasteMark(waiting)).toBeUndefined()
      await terminal.paste('one', { mark: 'first #{pid} ;' }, waiting)
      expect(await terminal.lastPasteMark(waiting)).toBe('first #{pid} ;')
      await using other = backend.attach(terminal.id, terminal.pane)
      await other.paste('two', { mark: 'second' }, waiting)
      expect(await terminal.lastPasteMark(waiting)).toBe('second')
      await using mistaken = backend.attach('fffffffe' as TerminalId, terminal.pane)
      await mistaken.paste('three', { mark: 'third' }, waiting)
      expect([await mistaken.lastPasteMark(waiting), await terminal.lastPasteMark(waiting)]).toEqual([
        undefined,
        'second',
      ])
      await terminal.destroy({ graceMs: 0 }, waiting)
      expect(await terminal.lastPasteMark(waiting)).toBeUndefined()
    })

    test('all terminals of a session can be destroyed at once, and those of others live on', async () => {
      const bystander = await open('printf here; sleep 60')
      for (let round = 0; round < 3; round++) {
        const sessionName = session(`cao-crowd-${round}`)
        const crowd = await Promise.all(Array.from({ length: 5 }, () => open('sleep 60', { sessionName })))
        await Promise.all(crowd.map((each) => each.destroy({ graceMs: 0 }, waiting)))
      }
      await shows(bystander, 'here')
      await bystander.destroy({ graceMs: 0 }, waiting)
    })

    describe('the end of an agent', () => {
      test.each([
        ['exit 0', { code: 0, signal: undefined }],
        ['exit 7', { code: 7, signal: undefined }],
        ['kill -9 $$', { code: 137, signal: 'SIGKILL' }],
        ['kill -TERM $$', { code: 143, signal: 'SIGTERM' }],
      ])('%s is told with its code within a moment, and its last words stay readable', async (ending, wanted) => {
        const terminal = await open(`printf 'last words'; sleep 0.2; ${ending}`)
        const exit = await exitOf(terminal)
        expect(exit).toMatchObject(wanted)
        expect(Math.abs(clock.nowMs() - exit.atMs)).toBeLessThan(1_000)
        expect(await log(terminal)).toBe('last words')
        expect((await lines(terminal, { historyLines: 10 })).filter((line) => line !== '')).toEqual(['last words'])
        expect(await terminal.agentPid()).toBeUndefined()
        expect(await terminal.presence(waiting)).toBe('present')
        await terminal.destroy({ graceMs: 0 }, waiting)
        expect(await terminal.presence(waiting)).toBe('absent')
      })

      test('an interrupt reaches the agent and not what watches it', async () => {
        const terminal = await open(`trap 'printf caught; exit 9' INT; printf ready; while :; do sleep 0.05; done`)
        await shows(terminal, 'ready')
        await terminal.press([{ kind: 'key', name: 'C-c' }], waiting)
        expect(await exitOf(terminal)).toMatchObject({ code: 9 })
        await terminal.destroy({ graceMs: 0 }, waiting)
      })

      test('destroying asks first, then ends even what ignores it, children too, and touches nothing else', async () => {
        const bystander = await open('printf here; sleep 60')
        const polite = await open(
          `trap 'printf bye >"${dir}/bye"; exit 0' TERM; printf ready; while :; do sleep 0.05; done`,
        )
        const stubborn = await open(
          `trap '' TERM HUP INT; (trap '' TERM HUP; echo $$ >/dev/null; while :; do sleep 1; done) & echo $! >'${dir}/child'; printf ready; while :; do sleep 0.05; done`,
        )
        await Promise.all([polite, stubborn].map((each) => shows(each, 'ready')))
        const pids = [
          await polite.agentPid(),
          await stubborn.agentPid(),
          Number(readFileSync(join(dir, 'child'), 'utf8')),
        ]
        expect(pids.map((pid) => isAlive(pid ?? 0))).toEqual([true, true, true])
        await Promise.all([polite, stubborn].map((each) => each.destroy({ graceMs: 400 }, waiting)))
        expect(readFileSync(join(dir, 'bye'), 'utf8')).toBe('bye')
        expect(pids.map((pid) => isAlive(pid ?? 0))).toEqual([false, false, false])
        expect(await exitOf(polite)).toMatchObject({ code: 0 })
        await stubborn.destroy({ graceMs: 400 }, waiting)
        expect(await stubborn.capture({}, waiting)).toEqual({ kind: 'gone' })
        await shows(bystander, 'here')
        await bystander.destroy({ graceMs: 0 }, waiting)
      })

      test('a handle that was disposed never tells an end', async () => {
        const terminal = await open('sleep 0.3; exit 5')
        await terminal[Symbol.asyncDispose]()
        const first = await Promise.race([terminal.exited, sleep(clock, 700).then(() => 'silence')])
        expect(first).toBe('silence')
        const again = backend.attach(terminal.id, terminal.pane)
        expect(await exitOf(again)).toMatchObject({ code: 5 })
        await again.destroy({ graceMs: 0 }, waiting)
      })
    })

    test('a pane id with the tag of another terminal is not that terminal', async () => {
      const { terminal, path } = await openReader('mistaken')
      await using mistaken = backend.attach('ffffffff' as TerminalId, terminal.pane)
      expect(await mistaken.capture({}, waiting)).toEqual({ kind: 'gone' })
      expect(await mistaken.paste('x', { mark: 'm' }, waiting)).toEqual({ kind: 'refused', reason: 'gone' })
      expect(await mistaken.press([{ kind: 'text', text: 'x' }], waiting)).toEqual({ kind: 'refused', reason: 'gone' })
      expect(await mistaken.presence(waiting)).toBe('absent')
      await mistaken.destroy({ graceMs: 0 }, waiting)
      expect(await terminal.presence(waiting)).toBe('present')
      expect(readFileSync(path, 'utf8')).toBe('')
      await terminal.destroy({ graceMs: 0 }, waiting)
    })

    describeAfterLife(harness)
  })
}

/** Restart of ours and death of the server: each test has a home of its own. */
function describeAfterLife(harness: BackendHarness): void {
  const planIn = (dir: string, script: string): OpenPlan => ({
    terminalId: makeTerminalId(randomHex),
    sessionName: 'cao-life' as SessionName,
    windowName: 'life',
    argv: ['/bin/sh', '-c', script],
    cwd: dir,
    env: { PATH: '/usr/bin:/bin' },
    size: { cols: 80, rows: 24 },
  })
  async function withHome(run: (dir: string) => Promise<void>): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), 'cao-backend-'))
    try {
      await run(dir)
    } finally {
      await using last = harness.create(dir)
      await last.ensure(waiting)
      await last.shutdown(waiting)
      rmSync(dir, { recursive: true, force: true })
    }
  }
  async function openIn(backend: TerminalBackend, dir: string, script: string): Promise<BackendTerminal> {
    const outcome = await backend.open(planIn(dir, script), waiting)
    if (outcome.kind !== 'opened') throw new Error(outcome.detail)
    return outcome.terminal
  }

  test('agents outlive us and are found again: screen, log from the offset, input and end', async () => {
    await withHome(async (dir) => {
      const first = harness.create(dir)
      if (!first.capabilities.has('survives-server-restart')) return first[Symbol.asyncDispose]()
      const before = await first.ensure(waiting)
      const old = await openIn(first, dir, `printf one; read x; printf two; read x; exit 4`)
      await until('one', async () => ((await old.outputLength()) === 3 ? true : undefined))
      await first[Symbol.asyncDispose]()

      await using second = harness.create(dir)
      expect(await second.ensure(waiting)).toEqual(before)
      const [found, ...others] = await second.list(waiting)
      expect(others).toEqual([])
      expect(found).toMatchObject({ terminalId: old.id, pane: old.pane, isDead: false, windowName: 'life' })
      const terminal = second.attach(old.id, old.pane)
      const seen: string[] = []
      using _following = terminal.follow(3, (chunk) => seen.push(Buffer.from(chunk.bytes).toString()))
      await terminal.press([{ kind: 'key', name: 'Enter' }], waiting)
      await until('two', () => (seen.join('').includes('two') ? true : undefined))
      expect(seen.join('')).toBe('\r\ntwo')
      expect(await terminal.agentPid()).toEqual(expect.any(Number))
      await terminal.press([{ kind: 'key', name: 'Enter' }], waiting)
      expect(await withDeadline(clock, terminal.exited, 5_000, 'the exit')).toMatchObject({ code: 4 })
      await terminal.destroy({ graceMs: 0 }, waiting)
    })
  })

  test('the death of the server is told once, with everything on it gone; the next life is another', async () => {
    const { crashServer } = harness
    if (crashServer === undefined) return
    await withHome(async (dir) => {
      await using backend = harness.create(dir)
      const facts = await backend.ensure(waiting)
      const terminal = await openIn(backend, dir, 'printf ready; sleep 60')
      const pid = (await terminal.agentPid()) ?? 0
      const lost: string[] = []
      backend.onLost((event) => lost.push(event.instanceId))
      const crashedMs = clock.monotonicMs()
      crashServer(facts)
      await until('the loss to be told', () => (lost.length > 0 ? true : undefined))
      expect(clock.monotonicMs() - crashedMs).toBeLessThan(2_000)
      expect(await terminal.presence(waiting)).toBe('absent')
      expect(await terminal.capture({}, waiting)).toEqual({ kind: 'gone' })
      await expect(backend.list(waiting)).rejects.toMatchObject({ code: 'BACKEND_GONE' })

      const next = await backend.ensure(waiting)
      expect(next.instanceId).not.toBe(facts.instanceId)
      expect(await backend.list(waiting)).toEqual([])
      const other = await openIn(backend, dir, 'printf other; sleep 60')
      expect(await terminal.paste('x', { mark: 'm' }, waiting)).toEqual({ kind: 'refused', reason: 'gone' })
      expect(await terminal.capture({}, waiting)).toEqual({ kind: 'gone' })
      await terminal.destroy({ graceMs: 0 }, waiting)
      await until('the agent of the old life to end', () => (isAlive(pid) ? undefined : true))
      expect(await other.presence(waiting)).toBe('present')
      await sleep(clock, 300)
      expect(lost).toEqual([facts.instanceId])
    })
  })

  test('an agent that ended while nobody watched is told at once', async () => {
    await withHome(async (dir) => {
      await using first = harness.create(dir)
      await first.ensure(waiting)
      const old = await openIn(first, dir, `sleep 0.3; exit 6`)
      await old[Symbol.asyncDispose]()
      await sleep(clock, 700)
      const found = (await first.list(waiting)).find((each) => each.terminalId === old.id)
      expect(found).toMatchObject({ isDead: true })
      const again = first.attach(old.id, old.pane)
      expect(await withDeadline(clock, again.exited, 1_000, 'the exit')).toMatchObject({ code: 6 })
    })
  })

  test('before it was looked for, a backend says so instead of calling anything absent', async () => {
    await withHome(async (dir) => {
      await using backend = harness.create(dir)
      const pane = { instanceId: 'x' as BackendFacts['instanceId'], paneId: '%0' }
      await using terminal = backend.attach('00000001' as TerminalId, pane)
      expect(await terminal.presence(waiting)).toBe('unknown')
      await expect(terminal.capture({}, waiting)).rejects.toMatchObject({ code: 'BACKEND_GONE' })
    })
  })
}
