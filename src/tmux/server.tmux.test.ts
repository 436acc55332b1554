import { existsSync, rmSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { silentLog } from '../lib/log.ts'
import { existingServerArgs, type ServerAddress } from './address.ts'
import { type LinkEvent, TmuxLink } from './link.ts'
import { probeLiveness } from './liveness.ts'
import { makeAddress, makeTempDir, mustOpen, startPrivateServer, text, until } from './private-server.case.ts'
import { readProcessIdentity } from './process-identity.ts'
import { runProgram } from './run-program.ts'
import { replyText } from './runner.ts'
import { ensureServer, stopServer } from './server.ts'
import { readServerRecord } from './server-record.ts'

const clock = systemClock

async function tmuxCall(address: ServerAddress, ...args: string[]) {
  const all = [...existingServerArgs(address), ...args]
  const result = await runProgram({ clock, file: 'tmux', args: all, env: address.env, timeoutMs: 5_000 })
  return result.kind === 'exited' ? { code: result.code, out: result.stdout.trim(), err: result.stderr.trim() } : result
}

async function stopWhatRuns(address: ServerAddress): Promise<void> {
  const record = readServerRecord(address)
  if (record !== undefined) await stopServer({ clock, address, identity: record, closeClients: async () => {} })
}

describe('starting the private server', () => {
  test('setting an option starts no server, with our arguments or without', async () => {
    using dir = makeTempDir()
    const address = makeAddress(dir.path)
    expect(await tmuxCall(address, 'set-option', '-s', 'exit-empty', 'off')).toMatchObject({ code: 1 })
    expect(await probeLiveness(clock, address)).toMatchObject({ kind: 'absent' })
  })

  test('the first creation already has exit-empty off, the keeper, the instance and the options', async () => {
    await using tmux = await startPrivateServer()
    const { connection, address, server } = tmux
    const line = `show-options -sv exit-empty ; show-options -gwv remain-on-exit ; show-options -gv history-limit ; show-options -gwv window-size ; has-session -t =keeper`
    const outcome = await connection.run(line, { replies: 5 })
    expect(outcome.kind === 'replied' && outcome.replies.map(replyText)).toEqual(['off', 'on', '10000', 'latest', ''])
    expect(server.facts).toMatchObject({ instance: 'test1', pid: server.identity.pid })
    expect(statSync(address.socketPath).mode & 0o077).toBe(0)
    expect(readServerRecord(address)).toEqual({
      ...server.identity,
      instance: 'test1',
      socketPath: address.socketPath,
      isForeign: false,
    })
  })

  test('a second start finds the first server and keeps its instance', async () => {
    await using tmux = await startPrivateServer()
    const again = await ensureServer({ clock, address: tmux.address, instance: 'other' })
    expect(again).toMatchObject({ kind: 'running', wasStarted: false, facts: { instance: 'test1' } })
  })

  test('twelve concurrent starts give one server with one keeper', async () => {
    using dir = makeTempDir()
    const address = makeAddress(dir.path)
    const starts = Array.from({ length: 12 }, (_, index) => ensureServer({ clock, address, instance: `i${index}` }))
    const outcomes = await Promise.all(starts)
    const seen = outcomes.map((each) => (each.kind === 'running' ? `${each.facts.pid} ${each.facts.instance}` : each))
    expect(new Set(seen).size).toBe(1)
    expect(await tmuxCall(address, 'list-sessions', '-F', '#{session_name}')).toMatchObject({ out: 'keeper' })
    await stopWhatRuns(address)
  })

  test('the environment of whoever starts it does not reach a pane, and it is outside our process group', async () => {
    process.env['CAO_TEST_SECRET'] = 'leak'
    await using tmux = await startPrivateServer()
    delete process.env['CAO_TEST_SECRET']
    const env = await tmuxCall(tmux.address, 'show-environment', '-g')
    expect(JSON.stringify(env)).not.toContain('leak')
    const stat = await runProgram({
      clock,
      file: 'ps',
      args: ['-o', 'pgid=,sid=', '-p', String(tmux.server.identity.pid)],
      env: { PATH: '/bin:/usr/bin' },
      timeoutMs: 2_000,
    })
    const [pgid, sid] = (stat.kind === 'exited' ? stat.stdout : '').trim().split(/\s+/).map(Number)
    expect([pgid, sid]).toEqual([tmux.server.identity.pid, tmux.server.identity.pid])
  })

  test('a changed essential option is put right by the next start', async () => {
    await using tmux = await startPrivateServer()
    await tmux.connection.run('set-option -s exit-empty on')
    expect(await ensureServer({ clock, address: tmux.address, instance: 'x' })).toMatchObject({ kind: 'running' })
    const outcome = await tmux.connection.run('show-options -sv exit-empty')
    expect(outcome.kind === 'replied' && replyText(outcome.replies[0])).toBe('off')
  })

  test('a directory that others may write is refused', async () => {
    using dir = makeTempDir()
    const address = { ...makeAddress(dir.path), socketPath: `${dir.path}/open/s` }
    await runProgram({
      clock,
      file: 'mkdir',
      args: ['-m', '777', `${dir.path}/open`],
      env: address.env,
      timeoutMs: 2_000,
    })
    expect(await ensureServer({ clock, address, instance: 'x' })).toMatchObject({ kind: 'failed' })
  })
})

describe('the end of the server', () => {
  test('kill -9 closes the connection within a moment, makes it absent, and a new start takes over the stale socket', async () => {
    await using tmux = await startPrivateServer()
    const { address, server, connection } = tmux
    const startMs = clock.monotonicMs()
    process.kill(server.identity.pid, 'SIGKILL')
    const reason = await connection.closed
    expect(clock.monotonicMs() - startMs).toBeLessThan(500)
    expect(reason).toMatchObject({ kind: 'exited', detail: 'server exited unexpectedly' })
    await until('the process to go', async () =>
      (await readProcessIdentity(clock, server.identity.pid)) ? undefined : true,
    )
    expect(await probeLiveness(clock, address, server.identity)).toMatchObject({ kind: 'absent' })
    const again = await ensureServer({ clock, address, instance: 'test2' })
    expect(again).toMatchObject({ kind: 'running', wasStarted: true, facts: { instance: 'test2' } })
    await stopWhatRuns(address)
  })

  test('a removed socket is unknown, never absent, and comes back from the same server', async () => {
    await using tmux = await startPrivateServer()
    const { address, server } = tmux
    rmSync(address.socketPath)
    expect(await probeLiveness(clock, address, server.identity)).toMatchObject({
      kind: 'unknown',
      why: 'socket-removed',
    })
    const again = await ensureServer({ clock, address, instance: 'x' })
    expect(again).toMatchObject({
      kind: 'running',
      wasStarted: false,
      facts: { pid: server.identity.pid, instance: 'test1' },
    })
  })

  test('a server that does not answer is unknown, nothing is started, and all goes on when it answers', async () => {
    await using tmux = await startPrivateServer()
    const { address, server } = tmux
    process.kill(server.identity.pid, 'SIGSTOP')
    try {
      expect(await ensureServer({ clock, address, instance: 'x' })).toMatchObject({ kind: 'unknown', why: 'no-answer' })
    } finally {
      process.kill(server.identity.pid, 'SIGCONT')
    }
    expect(await probeLiveness(clock, address)).toMatchObject({ kind: 'present', facts: { pid: server.identity.pid } })
  })

  test('stopping works while another control client does not read, by ending the recorded process', async () => {
    await using tmux = await startPrivateServer()
    const { address, server, connection } = tmux
    const stuck = await mustOpen(address)
    process.kill(stuck.clientPid ?? 0, 'SIGSTOP')
    const closeClients = () => connection.close()
    const outcome = await stopServer({ clock, address, identity: server.identity, closeClients })
    stuck.abandon('test ends')
    expect(outcome).toEqual({ kind: 'stopped', how: 'killed' })
    expect(await readProcessIdentity(clock, server.identity.pid)).toBeUndefined()
  })

  test('stopping what has gone says so and touches nothing', async () => {
    await using tmux = await startPrivateServer()
    const options = {
      clock,
      address: tmux.address,
      identity: tmux.server.identity,
      closeClients: () => tmux.connection.close(),
    }
    expect(await stopServer(options)).toEqual({ kind: 'stopped', how: 'asked' })
    // The socket that tmux leaves and the note beside it went with the server.
    expect(existsSync(tmux.address.socketPath)).toBe(false)
    expect(readServerRecord(tmux.address)).toBeUndefined()
    expect(await stopServer(options)).toEqual({ kind: 'stopped', how: 'was-gone' })
  })
})

describe('the link', () => {
  test('it runs commands while down over a connection of their own, and comes up again by itself', async () => {
    await using tmux = await startPrivateServer()
    const { link, first } = await TmuxLink.open({ clock, address: tmux.address, log: silentLog })
    await using _link = link
    expect(first.kind).toBe('open')
    const events: LinkEvent[] = []
    link.onEvent((event) => events.push(event))
    const pid = await link.run("list-clients -F '#{client_pid}'")
    const pids = pid.kind === 'replied' ? text(pid.replies[0]?.lines ?? []).map(Number) : []
    const own = pids.find((each) => each !== tmux.connection.clientPid)
    process.kill(own ?? 0, 'SIGKILL')
    await until('the link to go down', () => events.find((event) => event.kind === 'down'))
    const meanwhile = await link.run('display-message -p meanwhile')
    expect(meanwhile.kind === 'replied' && replyText(meanwhile.replies[0])).toBe('meanwhile')
    await until('the link to come up', () => events.find((event) => event.kind === 'up'))
    expect(link.isUp).toBe(true)
  })

  test('it says why it can not come up, starts no server, and follows a new one', async () => {
    await using tmux = await startPrivateServer()
    const { link } = await TmuxLink.open({ clock, address: tmux.address, log: silentLog })
    await using _link = link
    const events: LinkEvent[] = []
    link.onEvent((event) => events.push(event))
    process.kill(tmux.server.identity.pid, 'SIGKILL')
    const failed = await until('a failed retry', () => events.find((event) => event.kind === 'retry-failed'))
    expect(failed).toMatchObject({ why: 'no-server' })
    expect(await link.run('display-message -p x')).toMatchObject({ kind: 'closed' })
    await ensureServer({ clock, address: tmux.address, instance: 'test2' })
    link.retryNow()
    await until('the link to come up', () => events.find((event) => event.kind === 'up'))
    await link[Symbol.asyncDispose]()
    await stopWhatRuns(tmux.address)
  })
})
