import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import type { ModelRequest } from './conversation.ts'
import { messagesWire } from './messages-wire.ts'
import { openScriptedModel, type ScriptedModel } from './server.ts'

const bash = { name: 'Bash', input_schema: { type: 'object', properties: { command: {} }, required: ['command'] } }
const text = (value: string) => ({ type: 'text', text: value })

describe("Anthropic's Messages", () => {
  const seen: ModelRequest[] = []
  let model: ScriptedModel
  beforeAll(async () => {
    model = await openScriptedModel({ clock: systemClock, port: 0, onRequest: (request) => seen.push(request) })
  })
  afterAll(async () => {
    await model[Symbol.asyncDispose]()
  })

  const post = (path: string, body: object) =>
    fetch(`http://127.0.0.1:${model.port}${path}`, { method: 'POST', body: JSON.stringify(body) })
  const ask = (content: string, stream: boolean) =>
    post('/v1/messages?beta=true', {
      model: 'm',
      stream,
      system: [text('Be brief.')],
      tools: [bash],
      messages: [{ role: 'user', content }],
    })

  type Event = { readonly type: string; readonly index?: number; readonly delta?: Readonly<Record<string, unknown>> }
  async function eventsOf(content: string): Promise<readonly Event[]> {
    const frames = (await (await ask(content, true)).text()).trimEnd().split('\n\n')
    return frames.map((frame) => {
      const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? []
      const event = JSON.parse(data) as Event
      expect(event.type).toBe(name)
      return event
    })
  }

  it('streams each kind of content in a block of its own, in order, and says why it stopped', async () => {
    const events = await eventsOf('think hm\nsay before\ntool ls')
    expect(events.map(({ type, index }) => (index === undefined ? type : `${index} ${type}`))).toEqual([
      'message_start',
      '0 content_block_start',
      '0 content_block_delta',
      '0 content_block_delta',
      '0 content_block_stop',
      '1 content_block_start',
      '1 content_block_delta',
      '1 content_block_stop',
      '2 content_block_start',
      '2 content_block_delta',
      '2 content_block_stop',
      'message_delta',
      'message_stop',
    ])
    const deltas = events.flatMap(({ delta }) => (delta === undefined ? [] : [delta]))
    expect(deltas).toEqual([
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: 'scripted' },
      { type: 'text_delta', text: 'before\n\n' },
      { type: 'input_json_delta', partial_json: '{"command":"ls"}' },
      { stop_reason: 'tool_use', stop_sequence: null },
    ])
  })

  it('streams a long text whole', async () => {
    const answer = 'a long enough text: 你好 👩‍💻, which goes in several pieces'
    const deltas = (await eventsOf(`reply ${answer}`)).flatMap(({ delta }) =>
      typeof delta?.['text'] === 'string' ? [delta['text']] : [],
    )
    expect(deltas.length).toBeGreaterThan(1)
    expect(deltas.join('')).toBe(answer)
  })

  it('answers whole when no stream is asked for', async () => {
    expect(await (await ask('say so\ntool ls', false)).json()).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'so\n\n' },
        { type: 'tool_use', name: 'Bash', input: { command: 'ls' } },
      ],
      stop_reason: 'tool_use',
    })
  })

  it('answers an error in the words of that wire', async () => {
    const response = await ask('error 429', true)
    expect([response.status, await response.json()]).toEqual([
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'scripted error 429' } },
    ])
  })

  it('counts tokens when it is asked to', async () => {
    expect(await (await post('/v1/messages/count_tokens', {})).json()).toEqual({ input_tokens: 120 })
  })

  it('tells its owner what it was asked', async () => {
    await (await ask('reply x', true)).text()
    expect(seen.at(-1)).toEqual({
      model: 'm',
      isStreaming: true,
      systemPrompt: 'Be brief.',
      tools: [{ name: 'Bash', schema: bash.input_schema }],
      items: [{ kind: 'user', text: 'reply x' }],
    })
  })
})

it('reads results, reminders and interruptions out of the blocks of a message', () => {
  const messages = [
    { role: 'user', content: [text('<system-reminder>\nreply no\n</system-reminder>'), text('tool ls')] },
    { role: 'assistant', content: [{ type: 'tool_use' }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', content: [text('a file')] }, text('[Request interrupted by user]')],
    },
    { role: 'user', content: 'reply yes' },
  ]
  expect(messagesWire.read({ messages }, '').items).toEqual([
    { kind: 'user', text: 'tool ls' },
    { kind: 'assistant' },
    { kind: 'result', text: 'a file' },
    { kind: 'interrupted' },
    { kind: 'user', text: 'reply yes' },
  ])
})
