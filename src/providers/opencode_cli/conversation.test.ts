import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginConversation, type Conversation, stepConversation, syncConversation, type Tell } from './conversation.ts'
import { parseEvent } from './event.ts'
import { EventStreamParser } from './event-stream.ts'

const folder = join(import.meta.dirname, 'fixtures', '1.18.33', 'events')
const ours = 'ses_dd1862e55ffex1CEyGJUVeGGBS'

/** What a recorded stream tells, from `state` on. */
function replay(name: string, from: Conversation): { readonly tells: readonly Tell[]; readonly state: Conversation } {
  const parser = new EventStreamParser()
  let state = from
  const tells: Tell[] = []
  for (const data of parser.feed(readFileSync(join(folder, `${name}.sse`), 'utf8'))) {
    const event = parseEvent(data)
    if (event === undefined) continue
    const step = stepConversation(state, event)
    state = step.state
    tells.push(...step.tells)
  }
  return { tells, state }
}

const resting = (sessionId: string | undefined): Conversation => ({ ...beginConversation(sessionId), isBusy: false })
const accepted = (text: string): Tell => ({ kind: 'accepted', text })
const started: Tell = { kind: 'claim', claim: { kind: 'turn_started' } }
const ended = (outcome: 'answered' | 'interrupted' | 'failed', answer?: string): Tell => ({
  kind: 'claim',
  claim: { kind: 'turn_ended', outcome, answer },
})
const closed: Tell = { kind: 'claim', claim: { kind: 'question_closed' } }
const retrying: Tell = { kind: 'claim', claim: { kind: 'busy', reason: 'retrying' } }

describe('what recorded streams of opencode 1.18.33 tell', () => {
  it('a turn: the message was taken, work began, it ended with the exact answer', () => {
    expect(replay('made-session', resting(ours)).tells).toEqual([
      accepted('reply second session'),
      started,
      ended('answered', 'second session'),
    ])
  })

  it('a prompt in a session that the person began makes that session ours', () => {
    expect(replay('first-prompt', resting(undefined)).tells).toEqual([
      { kind: 'bound', sessionId: 'ses_dd186736fffen4ArKpFQo1bbfl' },
      accepted('reply first answer with é and 你好'),
      started,
      ended('answered', 'first answer with é and 你好'),
    ])
  })

  it('a message typed in mid-turn is proven at once, and the turn ends when both are answered', () => {
    expect(replay('queued', resting(ours)).tells).toEqual([
      accepted('slow 4'),
      started,
      accepted('reply queued one'),
      ended('answered', 'queued one'),
    ])
  })

  it('a collapsed paste is told with its whole text', () => {
    const lines = Array.from({ length: 12 }, (_, at) => `line ${at} of a paste`)
    expect(replay('pasted', resting(ours)).tells[0]).toEqual(accepted([...lines, 'reply got the paste '].join('\n')))
  })

  it('a permission is asked and closed; the answer is that of the message after the tool', () => {
    expect(replay('permission', resting(ours)).tells).toEqual([
      accepted('tool echo hi-tool'),
      started,
      {
        kind: 'claim',
        claim: {
          kind: 'waiting',
          reason: 'permission',
          question: {
            text: 'Allow bash: echo hi-tool',
            options: ['Allow once', 'Allow always', 'Reject'],
            vendorId: 'per_22e7a4cd2001P6vBlWjai230Nl',
          },
        },
      },
      closed,
      ended('answered', 'DONE hi-tool\n'),
    ])
  })

  it('a question is asked with its options', () => {
    const { tells } = replay('question', resting(ours))
    expect(tells[2]).toEqual({
      kind: 'claim',
      claim: {
        kind: 'waiting',
        reason: 'question',
        question: { text: 'Which colour?', options: ['Red', 'Blue'], vendorId: 'que_22e7a5cc6001ApY260zuKL88Qe' },
      },
    })
    expect(tells.slice(3).map((tell) => (tell.kind === 'claim' ? tell.claim.kind : tell.kind))).toEqual([
      'question_closed',
      'turn_ended',
    ])
  })

  it('a refused permission ends the turn as interrupted', () => {
    const { tells } = replay('permission-rejected', resting('ses_dd17afec4ffe1So59Um64nHrwX'))
    expect(tells.slice(-2)).toEqual([closed, ended('interrupted')])
  })

  it('an interrupted turn ends once, although the program is idle twice', () => {
    expect(replay('interrupted', resting(ours)).tells).toEqual([accepted('slow 20'), started, ended('interrupted')])
  })

  it('a turn that was aborted between two tries of the model is interrupted, without any error', () => {
    const { tells } = replay('retry-aborted', resting(ours))
    const again: Tell = { kind: 'claim', claim: { kind: 'busy', reason: 'turn' } }
    const tries = [retrying, again, retrying, again, retrying, again, retrying]
    expect(tells).toEqual([accepted('error 400'), started, ...tries, ended('interrupted')])
  })

  it.each(readdirSync(folder))('%s tells nothing about a conversation that it does not hold', (file) => {
    const other = { ...resting('ses_other'), children: [ours, 'ses_dd17afec4ffe1So59Um64nHrwX'] }
    const { tells } = replay(file.replace(/\.sse$/, ''), other)
    expect(tells.filter((tell) => tell.kind === 'accepted' && file !== 'first-prompt.sse')).toEqual([])
    expect(tells.some((tell) => tell.kind === 'claim' && tell.claim.kind === 'turn_ended')).toBe(
      file === 'first-prompt.sse',
    )
  })
})

const event = (type: string, properties: object) => {
  const parsed = parseEvent(JSON.stringify({ id: 'evt_1', type, properties }))
  if (parsed === undefined) throw new Error(`${type} was not read`)
  return parsed
}
const status = (type: string, sessionID = ours) => event('session.status', { sessionID, status: { type } })
const permission = (id: string, sessionID = ours) =>
  event('permission.asked', { id, sessionID, permission: 'bash', patterns: ['ls'], metadata: {}, always: [] })
const run = (from: Conversation, ...events: ReturnType<typeof event>[]) =>
  events.reduce<{ state: Conversation; tells: readonly Tell[] }>(
    ({ state, tells }, one) => {
      const step = stepConversation(state, one)
      return { state: step.state, tells: [...tells, ...step.tells] }
    },
    { state: from, tells: [] },
  )

describe('stepConversation', () => {
  it("tells a sub-agent's permission, and nothing else of it", () => {
    const child = event('session.created', { sessionID: 'ses_child', info: { parentID: ours } })
    const { tells } = run(
      resting(ours),
      child,
      status('busy', 'ses_child'),
      event('message.updated', { sessionID: 'ses_child', info: { id: 'm1', sessionID: 'ses_child', role: 'user' } }),
      permission('per_1', 'ses_child'),
      permission('per_2', 'ses_unrelated'),
    )
    expect(tells.map((tell) => (tell.kind === 'claim' ? tell.claim.kind : tell.kind))).toEqual(['waiting'])
  })

  it('tells a message once, however often its text comes', () => {
    const info = { id: 'msg_u', sessionID: ours, role: 'user' }
    const part = { type: 'text', text: 'hello', id: 'prt_1', messageID: 'msg_u', sessionID: ours }
    const message = event('message.updated', { sessionID: ours, info })
    const text = event('message.part.updated', { sessionID: ours, part })
    expect(run(resting(ours), message, text, message, text).tells).toEqual([accepted('hello')])
  })

  it('asks the next of several permissions when the first is closed', () => {
    const { tells } = run(
      resting(ours),
      status('busy'),
      permission('per_1'),
      permission('per_2'),
      event('permission.replied', { sessionID: ours, requestID: 'per_1', reply: 'once' }),
    )
    expect(
      tells.map((tell) =>
        tell.kind === 'claim' && tell.claim.kind === 'waiting' ? tell.claim.question.vendorId : tell,
      ),
    ).toEqual([started, 'per_1', closed, 'per_2'])
  })

  it.each([
    [429, 'rate_limited'],
    [500, 'api_error'],
  ])('an error %d that opencode gives up on is %s, and the turn failed', (statusCode, reason) => {
    const error = { name: 'APIError', data: { message: 'no more', statusCode, isRetryable: false } }
    const { tells } = run(
      resting(ours),
      status('busy'),
      event('session.error', { sessionID: ours, error }),
      status('idle'),
    )
    expect(tells).toEqual([
      started,
      { kind: 'claim', claim: { kind: 'failed', reason, detail: 'no more' } },
      ended('failed'),
    ])
  })

  it('never throws and never ends a turn that did not begin, whatever comes in whatever order', () => {
    const events = fc.constantFrom(
      status('busy'),
      status('idle'),
      status('retry'),
      permission('per_1'),
      event('permission.replied', { sessionID: ours, requestID: 'per_1' }),
      event('session.error', { sessionID: ours, error: { name: 'MessageAbortedError' } }),
      event('message.updated', { sessionID: ours, info: { id: 'a', sessionID: ours, role: 'assistant', time: {} } }),
    )
    fc.assert(
      fc.property(fc.array(events), (list) => {
        const kinds = run(resting(ours), ...list).tells.flatMap((tell) =>
          tell.kind === 'claim' ? [tell.claim.kind] : [],
        )
        let isRunning = false
        for (const kind of kinds) {
          if (kind === 'turn_ended') expect(isRunning).toBe(true)
          if (kind === 'turn_started' || kind === 'busy') isRunning = true
          if (kind === 'turn_ended') isRunning = false
        }
      }),
    )
  })
})

describe('syncConversation', () => {
  const idle = { status: { kind: 'idle' }, requests: [], children: [], last: undefined, taken: [] } as const

  it('tells the end of a turn that nobody saw', () => {
    const last = { id: 'm', sessionId: ours, isCompleted: true, finish: 'stop', error: undefined }
    const busy = { ...resting(ours), isBusy: true }
    expect(syncConversation(busy, { ...idle, last }).tells).toEqual([ended('answered')])
    expect(syncConversation(resting(ours), { ...idle, last }).tells).toEqual([])
  })

  it('tells a turn that runs and the question that is open', () => {
    const request = { id: 'per_1', sessionId: ours, reason: 'permission', text: 't', options: ['o'] } as const
    const facts = { ...idle, status: { kind: 'busy' }, requests: [request] } as const
    expect(syncConversation(beginConversation(ours), facts).tells).toEqual([
      started,
      {
        kind: 'claim',
        claim: { kind: 'waiting', reason: 'permission', question: { text: 't', options: ['o'], vendorId: 'per_1' } },
      },
    ])
  })

  it('tells a whole turn that came and went before it listened, once', () => {
    const last = { id: 'm', sessionId: ours, isCompleted: true, finish: 'stop', error: undefined }
    const taken = [{ messageId: 'u', partId: 'p', text: 'quick' }]
    const first = syncConversation(beginConversation(ours), { ...idle, last, taken })
    expect(first.tells).toEqual([{ kind: 'accepted', text: 'quick' }, started, ended('answered')])
    expect(syncConversation(first.state, { ...idle, last, taken }).tells).toEqual([])
  })

  it('gives no answer of a turn whose beginning it did not see', () => {
    const facts = { ...idle, status: { kind: 'busy' } } as const
    const { state } = syncConversation(resting(ours), facts)
    const info = { id: 'a', sessionID: ours, role: 'assistant', time: { created: 1, completed: 2 }, finish: 'stop' }
    const { tells } = run(state, event('message.updated', { sessionID: ours, info }), status('idle'))
    expect(tells).toEqual([ended('answered')])
  })
})

describe('EventStreamParser', () => {
  it('gives the same frames however the text is cut', () => {
    const text = 'data: {"a":1}\n\n: note\n\ndata: b\ndata: c\n\ndata:d\r\n\r\nrest'
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const parser = new EventStreamParser()
        const bounds = [0, ...cuts.toSorted((a, b) => a - b), text.length]
        const frames = bounds.slice(1).flatMap((end, at) => parser.feed(text.slice(bounds[at], end)))
        expect(frames).toEqual(['{"a":1}', 'b\nc', 'd'])
      }),
    )
  })
})
