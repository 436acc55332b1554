import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import type { ModelRequest } from './conversation.ts'
import { responsesWire } from './responses-wire.ts'
import { openScriptedModel, type ScriptedModel } from './server.ts'

const shell = { type: 'function', name: 'exec_command', parameters: { properties: { cmd: { type: 'string' } } } }
const server = { type: 'namespace', name: 'mcp__cao', tools: [{ type: 'function', name: 'assign', parameters: {} }] }
const message = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })

describe("OpenAI's Responses", () => {
  const seen: ModelRequest[] = []
  let model: ScriptedModel
  beforeAll(async () => {
    model = await openScriptedModel({ clock: systemClock, port: 0, onRequest: (request) => seen.push(request) })
  })
  afterAll(async () => {
    await model[Symbol.asyncDispose]()
  })

  const ask = (text: string, more: object = {}) =>
    fetch(`http://127.0.0.1:${model.port}/v1/responses`, {
      method: 'POST',
      body: JSON.stringify({
        model: 'm',
        stream: true,
        tools: [shell, server],
        input: [message('developer', 'Be brief.'), message('user', text)],
        ...more,
      }),
    })

  type Event = Readonly<Record<string, unknown>> & { readonly type: string }
  async function eventsOf(text: string): Promise<readonly Event[]> {
    const frames = (await (await ask(text)).text()).trimEnd().split('\n\n')
    return frames.map((frame) => {
      const [, name = '', data = ''] = /^event: ([\w.]+)\ndata: (.*)$/.exec(frame) ?? []
      const event = JSON.parse(data) as Event
      expect(event.type).toBe(name)
      return event
    })
  }

  it('streams each item in order, numbered, and ends with all of them', async () => {
    const events = await eventsOf('think hm\nsay before\ntool ls')
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at))
    expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
      'created',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ])
    expect(events.at(-1)).toMatchObject({
      response: {
        status: 'completed',
        output: [
          { type: 'reasoning', summary: [{ text: 'hm' }] },
          { type: 'message', content: [{ type: 'output_text', text: 'before\n\n' }] },
          { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}' },
        ],
      },
    })
  })

  it('streams a long text whole', async () => {
    const answer = 'a long enough text: 你好 👩‍💻, which goes in several pieces'
    const deltas = (await eventsOf(`reply ${answer}`)).flatMap(({ type, delta }) =>
      type === 'response.output_text.delta' ? [delta] : [],
    )
    expect(deltas.length).toBeGreaterThan(1)
    expect(deltas.join('')).toBe(answer)
  })

  it('calls a tool of a server by the name of its namespace', async () => {
    expect(await (await ask('say so\ncall assign {"to":"x"}', { stream: false })).json()).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [
        { type: 'message', content: [{ text: 'so\n\n' }] },
        { type: 'function_call', name: 'assign', namespace: 'mcp__cao', arguments: '{"to":"x"}' },
      ],
    })
  })

  it('answers in JSON where a shape is asked for', async () => {
    const schema = { type: 'object', properties: { title: { type: 'string' }, long: { type: 'boolean' } } }
    const response = await ask('reply no', { stream: false, tools: [], text: { format: { schema } } })
    const { output } = (await response.json()) as { output: [{ content: [{ text: string }] }] }
    expect(JSON.parse(output[0].content[0].text)).toEqual({ title: 'Scripted title', long: false })
  })

  it('answers an error in the words of that wire', async () => {
    const response = await ask('error 429')
    const error = { message: 'scripted error 429', type: 'rate_limit_exceeded', code: 'rate_limit_exceeded' }
    expect([response.status, await response.json()]).toEqual([429, { error }])
  })

  it('tells its owner what it was asked', async () => {
    await (await ask('reply x')).text()
    expect(seen.at(-1)).toEqual({
      model: 'm',
      isStreaming: true,
      systemPrompt: '\nBe brief.',
      tools: [
        { name: 'exec_command', schema: shell.parameters },
        { name: 'mcp__cao__assign', schema: {}, namespace: 'mcp__cao' },
      ],
      items: [{ kind: 'user', text: 'reply x' }],
    })
  })
})

it('reads answers, results and interruptions, and leaves out what the program says of itself', () => {
  const input = [
    message('user', '<environment_context>\nreply no\n</environment_context>'),
    message('user', '# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nreply no\n</INSTRUCTIONS>'),
    message('user', 'say a\ntool ls'),
    { type: 'reasoning', summary: [] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
    { type: 'function_call', name: 'exec_command', arguments: '{}' },
    { type: 'function_call_output', output: 'a file' },
    { type: 'function_call', name: 'exec_command', arguments: '{}' },
    { type: 'function_call_output', output: 'Chunk ID: 1\nWall time: 0 seconds\nOutput:\na file\nOutput:\n' },
    { type: 'function_call', name: 'assign', namespace: 'mcp__cao', arguments: '{}' },
    {
      type: 'function_call_output',
      output: [{ text: 'Wall time: 1.8 seconds\nOutput:' }, { text: '{"success":true}' }],
    },
    message('user', '<turn_aborted>\nThe user interrupted the turn.\n</turn_aborted>'),
    message('user', 'reply yes'),
  ]
  expect(responsesWire.read({ input }, '').items).toEqual([
    { kind: 'user', text: 'say a\ntool ls' },
    { kind: 'assistant' },
    { kind: 'result', text: 'a file' },
    { kind: 'assistant' },
    { kind: 'result', text: 'a file\nOutput:\n' },
    { kind: 'assistant' },
    { kind: 'result', text: '{"success":true}' },
    { kind: 'interrupted' },
    { kind: 'user', text: 'reply yes' },
  ])
})
