/**
 * Faults that users of other orchestrators reported of status, output and answers, tried on real agents: the entries of docs/bug-cases.md
 * without a test elsewhere. Agents that call no hooks are known by their screen alone.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentPid, logLength, paneOf, processStart } from './incident.case.ts'
import { TestWorld, until } from './world.case.ts'

let world: TestWorld
beforeAll(async () => {
  world = await TestWorld.open()
  await world.startServer()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose](), 60_000)

const stepLimitMs = 30_000
const request = (flags: string) => ({
  agent_profile: 'developer',
  provider: 'scripted',
  working_directory: world.world.projectDir,
  env_vars: { SCRIPTED_AGENT_FLAGS: flags },
})
const start = async (flags = ''): Promise<string> => (await world.client.createSession(request(flags))).id
const tell = (id: string, ...lines: readonly string[]) =>
  world.client.sendMessage(id, { message: lines.join('\n'), sender_id: 'user' })
const waitFor = (id: string, status: string) => world.waitForStatus(id, status, stepLimitMs)
const lastAnswer = async (id: string) => (await world.client.readOutput(id, 'last')).output

/** What was said of the agent after `seq`, in order. */
async function listSaid(id: string, seq: number): Promise<readonly string[]> {
  const { events } = await world.client.listEvents({ after: seq, limit: 500 })
  return events.flatMap((event) =>
    event.type === 'terminal.status_changed' && event.terminal_id === id ? [event.to] : [],
  )
}
const lastSeq = async () => (await world.client.listEvents({ limit: 1 })).last_seq

async function allow(id: string): Promise<void> {
  await waitFor(id, 'waiting_user_answer')
  await world.client.answerQuestion(id, { answer: '1' })
}

describe('an agent that calls no hooks', () => {
  test('ST-12, ST-16: repaints without a pause and is cleared now and then, and no rest is told before its end', async () => {
    const id = await start('--ignore-hooks --spinner-ms 50')
    const seq = await lastSeq()
    const clear = `for i in 1 2 3; do sleep 0.8; printf '\\033[2J' >/dev/tty; done`
    await tell(id, `tool (${clear}) >/dev/null 2>&1 &`, 'wait 4000', 'reply done')
    await allow(id)
    await until('the end of its turn', stepLimitMs, () =>
      world.transcript(id).some(({ type }) => type === 'assistant') ? true : undefined,
    )
    const before = await listSaid(id, seq)
    // It paints what has changed, so its frame comes back with a new size.
    world.tmux('resize-window', '-t', paneOf(world, id), '-x', '180')
    await waitFor(id, 'completed')
    const isRest = (status: string) => status === 'idle' || status === 'completed'
    expect(before).toContain('processing')
    expect([before.filter(isRest), (await listSaid(id, seq)).filter(isRest)]).toEqual([[], ['completed']])
    await world.client.deleteTerminal(id)
  }, 90_000)

  test('OUT-08, OUT-10: goes on being known when a person closes its pipe, and after a quarter of a megabyte of redraws', async () => {
    const id = await start('--ignore-hooks --screen inline')
    world.tmux('pipe-pane', '-t', paneOf(world, id))
    // Long enough for the pipe to be found closed while it still works.
    await tell(id, 'flood 256', 'wait 9000', 'say The answer is right.')
    await until('its answer', stepLimitMs, async () => {
      const output = await lastAnswer(id).catch(() => '')
      return output === 'flooded 256 KiB\nThe answer is right.' ? true : undefined
    })
    await waitFor(id, 'completed')
    const length = logLength(world, id)
    await tell(id, 'reply later')
    await until('more in its log', stepLimitMs, () => (logLength(world, id) > length ? true : undefined))
    await until('its next answer', stepLimitMs, async () => ((await lastAnswer(id)) === 'later' ? true : undefined))
    await world.client.deleteTerminal(id)
  }, 90_000)
})

test('ST-18: what holds a message back is what the status says, and the message is told so at once', async () => {
  const id = await start()
  await tell(id, 'ask Which theme? | Dark | Light', 'reply chosen')
  await waitFor(id, 'waiting_user_answer')
  const sent = await tell(id, 'reply late')
  expect(sent.state).toBe('queued')
  expect((await world.client.getTerminal(id)).status).toBe('waiting_user_answer')
  await world.client.answerQuestion(id, { answer: '1' })
  await until('its answer', stepLimitMs, async () => ((await lastAnswer(id)) === 'late' ? true : undefined))
  await world.client.deleteTerminal(id)
}, 90_000)

test('OUT-14: an agent that stands still in the middle of a flood is deleted, and no other waits for it', async () => {
  const [flooding, other] = [await start('--screen inline'), await start()]
  await tell(flooding, 'flood 100000')
  await until('some of the flood', stepLimitMs, () => (logLength(world, flooding) > 1_000_000 ? true : undefined))
  const pid = agentPid(world, flooding) ?? 0
  process.kill(pid, 'SIGSTOP')
  const deleted = world.client.deleteTerminal(flooding)
  await world.client.sendInput(other, { message: 'reply not held up' })
  await until('the answer of the other', stepLimitMs, async () =>
    (await lastAnswer(other).catch(() => '')) === 'not held up' ? true : undefined,
  )
  await deleted
  expect(processStart(pid)).toBeUndefined()
  await world.client.deleteTerminal(other)
}, 90_000)

describe('what is printed', () => {
  test('OUT-01, OUT-06: signs that come byte by byte, and words that are moved apart, read as they look', async () => {
    // Its own picture stands still meanwhile.
    const id = await start('--spinner-ms 60000')
    const bytes = `for i in 1 2 3 4 5 6; do printf '\\342'; sleep 0.05; printf '\\224'; sleep 0.05; printf '\\200'; done`
    const menu = `printf '\\033[2J\\033[H> \\033[1C1.\\033[CYes,\\033[CI\\033[Ctrust\\033[Cthis\\033[Cfolder\\r\\n'`
    await tell(id, `tool (sleep 1; ${menu}; ${bytes}; sleep 3) >/dev/tty`, 'reply done')
    await allow(id)
    const screen = await until('the signs below the words', stepLimitMs, async () => {
      const { output } = await world.client.readOutput(id, 'screen')
      const [words = '', signs = ''] = output.split('\n')
      return words.startsWith('>  1. Yes,') && signs.startsWith('──────') ? output : undefined
    })
    expect(screen).toMatch(/^> {2}1\. Yes, I trust this folder\n/)
    expect(screen).not.toContain('\uFFFD')
    await waitFor(id, 'completed')
    await world.client.deleteTerminal(id)
  }, 60_000)
})

describe('answers', () => {
  const chrome = ['BEGIN', '❯ npm test', '› x', '────────', '● high · /effort', '⎿ a', '⏺ b', 'esc to interrupt', 'END']
  const url = `https://example.com/${'a1-'.repeat(330)}`
  const json = JSON.stringify({ list: Array.from({ length: 300 }, (_, at) => ({ at, wide: '漢字🙂' })) })
  const wide = 'x'.repeat(200)

  test.each([
    ['EX-06: of lines that look like the program itself', chrome.join('\n')],
    [
      'EX-08: of lines that are much wider than the screen, or just as wide',
      [url, json, wide, '漢字🙂'.repeat(80)].join('\n'),
    ],
  ])('%s come back to the byte', async (_name, text) => {
    const id = await start()
    await tell(id, `reply ${text.replaceAll('\n', '\\n')}`)
    await waitFor(id, 'completed')
    expect(await lastAnswer(id)).toBe(text)
    await world.client.deleteTerminal(id)
  })

  test('EX-02, EX-03: five thousand lines are whole, and what shows less of them says so, and where the rest is', async () => {
    const id = await start('--screen inline')
    await tell(id, 'long 5000')
    await waitFor(id, 'completed')
    const last = await world.client.readOutput(id, 'last')
    const full = await world.client.readOutput(id, 'full')
    expect([last.is_truncated, last.output.split('\n').length]).toEqual([false, 5000])
    expect([full.is_truncated, full.output.split('\n').length < 5000]).toEqual([true, true])
    let log = ''
    for (let offset = 0, length = 1; length > 0; offset += length) {
      const slice = await world.client.readOutputRange(id, { offset, length: 10_000 })
      log += slice.output
      length = slice.length
    }
    expect(log).not.toContain('\uFFFD')
    for (const line of last.output.split('\n').filter((_, at) => at % 500 === 0)) expect(log).toContain(line.trim())
    await world.client.deleteTerminal(id)
  }, 60_000)

  test('EX-07: all that was said in the turn is the answer, not its last words', async () => {
    const id = await start()
    const body = Array.from({ length: 200 }, (_, at) => `line ${at}`).join('\\n')
    await tell(id, `say ${body}`, 'tool echo between', 'reply waiting on my background task')
    await allow(id)
    await waitFor(id, 'completed')
    expect(await lastAnswer(id)).toBe(`${body.replaceAll('\\n', '\n')}\nwaiting on my background task`)
    await world.client.deleteTerminal(id)
  })

  test('EX-10: the echo of a message that imitates an answer is none', async () => {
    const id = await start()
    await tell(id, '⏺ fake answer', '● fake too', '', '❯ next', 'reply real')
    await waitFor(id, 'completed')
    expect(await lastAnswer(id)).toBe('real')
    await world.client.deleteTerminal(id)
  })
})
