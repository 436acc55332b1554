import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { sleep } from '../async/wait.ts'
import { openConnection } from './connection.ts'
import { makeAddress, makeTempDir, mustOpen, type PrivateServer, startPrivateServer } from './private-server.case.ts'
import { quote } from './quote.ts'
import { type RunOutcome, replyText } from './runner.ts'

let tmux: PrivateServer
beforeAll(async () => {
  tmux = await startPrivateServer()
})
afterAll(async () => {
  await tmux[Symbol.asyncDispose]()
})

const texts = (outcome: RunOutcome) => (outcome.kind === 'replied' ? outcome.replies.map(replyText) : outcome)

describe('a control connection', () => {
  test('200 pipelined commands are answered in order', async () => {
    const wanted = Array.from({ length: 200 }, (_, index) => `number ${index}`)
    const answers = await Promise.all(wanted.map((each) => tmux.connection.run(`display-message -p ${quote(each)}`)))
    expect(answers.map(texts)).toEqual(wanted.map((each) => [each]))
  })

  test('sequences, failures and conditions keep their replies apart from the next command', async () => {
    const run = tmux.connection.run.bind(tmux.connection)
    const answers = await Promise.all([
      run('display-message -p a ; display-message -p b', { replies: 2 }),
      run('display-message -p c ; has-session -t =nope ; display-message -p d', { replies: 3 }),
      run("if-shell -F 1 'display-message -p yes ; display-message -p yes2' 'display-message -p no'", {
        replies: 'unknown',
      }),
      run('no-such-command'),
      run('display-message -p e'),
    ])
    expect(answers.map(texts)).toEqual([
      ['a', 'b'],
      ['c', "can't find session: nope"],
      ['', 'yes', 'yes2'],
      ['parse error: unknown command: no-such-command'],
      ['e'],
    ])
  })

  test('a command that tmux answers too late times out, and the next gets its own answer', async () => {
    await using connection = await mustOpen(tmux.address)
    // tmux answers run-shell at once and runs what follows when it has ended.
    const blocker = connection.run("run-shell 'sleep 0.3'")
    const slow = connection.run('display-message -p slow', { timeoutMs: 50 })
    const next = connection.run('display-message -p mine')
    expect(await slow).toEqual({ kind: 'timed-out', waitedMs: 50, what: 'display-message' })
    expect((await blocker).kind).toBe('replied')
    expect(texts(await next)).toEqual(['mine'])
  })

  test('lines that look like guards inside a reply do not end it', async () => {
    const path = join(tmux.dir, 'guards')
    writeFileSync(path, '%begin 1 2 1\n%end 1 2 1\n%exit\n%error 1 2 1\n')
    const answer = await tmux.connection.run(
      `load-buffer -b g ${quote(path)} ; show-buffer -b g ; delete-buffer -b g`,
      {
        replies: 3,
      },
    )
    expect(texts(answer)).toEqual(['', '%begin 1 2 1\n%end 1 2 1\n%exit\n%error 1 2 1\n', ''])
  })

  test('the one that sees %output is never ours: the client is no-output and attached to the keeper', async () => {
    const answer = await tmux.connection.run(
      `list-clients -F '#{client_session} #{client_flags} #{client_control_mode}'`,
    )
    expect(texts(answer)).toEqual(['keeper attached,focused,control-mode,no-output,UTF-8 1'])
  })

  test('closing detaches and ends the client process; what waits is told', async () => {
    const connection = await mustOpen(tmux.address)
    await connection.run("run-shell 'sleep 0.3'")
    const waiting = connection.run('display-message -p x')
    await connection.close()
    expect((await connection.closed).kind).toBe('closed')
    expect((await waiting).kind).toBe('closed')
    expect((await connection.run('display-message -p x')).kind).toBe('closed')
    expect(() => process.kill(connection.clientPid ?? 0, 0)).toThrow('ESRCH')
  })

  test('a queue that is full answers at once', async () => {
    await using connection = await mustOpen(tmux.address)
    const many = Array.from({ length: 4_097 }, () => connection.run('display-message -p x'))
    expect(await many.at(-1)).toEqual({ kind: 'overloaded', pending: 4_096 })
    expect((await many[4_095])?.kind).toBe('replied')
  })

  test('without a server it does not open, says why and starts none', async () => {
    using dir = makeTempDir()
    const address = makeAddress(dir.path)
    const options = { clock: systemClock, address, onListenerError: () => undefined }
    expect(await openConnection(options)).toMatchObject({ kind: 'not-open', why: 'no-server' })
    await sleep(systemClock, 50)
    expect(await openConnection(options)).toMatchObject({ kind: 'not-open', why: 'no-server' })
    const missing = await openConnection({ ...options, address: { ...address, tmux: '/no/such/tmux' } })
    expect(missing).toMatchObject({ kind: 'not-open', why: 'no-program' })
    const noKeeper = await openConnection({ ...options, address: { ...tmux.address, keeperSession: 'keep' } })
    expect(noKeeper).toMatchObject({ kind: 'not-open', why: 'no-target' })
  })
})
