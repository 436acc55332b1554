import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import type { ModelRequest } from './conversation.ts'
import { geminiWire } from './gemini-wire.ts'
import { openScriptedModel, type ScriptedModel } from './server.ts'

const schema = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }
const user = (text: string) => ({ role: 'user', parts: [{ text }] })

describe("Google's Gemini API", () => {
  const seen: ModelRequest[] = []
  let model: ScriptedModel
  beforeAll(async () => {
    model = await openScriptedModel({ clock: systemClock, port: 0, onRequest: (request) => seen.push(request) })
  })
  afterAll(async () => {
    await model[Symbol.asyncDispose]()
  })

  const post = (path: string, body: object) =>
    fetch(`http://127.0.0.1:${model.port}/v1beta/models/m:${path}`, { method: 'POST', body: JSON.stringify(body) })
  const ask = (text: string, path = 'streamGenerateContent?alt=sse') =>
    post(path, {
      contents: [user(text)],
      systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'run_shell_command', parametersJsonSchema: schema }] }],
    })

  type Chunk = {
    candidates: [{ content: { parts: readonly Readonly<Record<string, unknown>>[] }; finishReason?: string }]
  }
  async function chunksOf(text: string): Promise<readonly Chunk[]> {
    const frames = (await (await ask(text)).text()).trimEnd().split('\r\n\r\n')
    return frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as Chunk)
  }

  it('streams thoughts, texts and calls in order, and says in the last chunk that it is done', async () => {
    const chunks = await chunksOf('think hm\nsay before\ntool ls')
    expect(chunks.flatMap(({ candidates }) => candidates[0].content.parts)).toMatchObject([
      { text: 'hm', thought: true },
      { text: 'before\n\n' },
      { functionCall: { name: 'run_shell_command', args: { command: 'ls' } } },
      { text: '' },
    ])
    expect(chunks.map(({ candidates }) => candidates[0].finishReason)).toEqual([
      undefined,
      undefined,
      undefined,
      'STOP',
    ])
  })

  it('streams a long text whole', async () => {
    const answer = 'a long enough text: 你好 👩‍💻, which goes in several pieces'
    const parts = (await chunksOf(`reply ${answer}`)).flatMap(({ candidates }) => candidates[0].content.parts)
    expect(parts.length).toBeGreaterThan(2)
    expect(parts.map(({ text }) => text).join('')).toBe(answer)
  })

  it('answers whole when no stream is asked for, and in the shape that is wanted', async () => {
    const wanted = { type: 'OBJECT', properties: { score: { type: 'integer' }, why: { type: 'string' } } }
    const response = await post('generateContent', {
      contents: [user('reply no')],
      generationConfig: { responseSchema: wanted },
    })
    const { candidates } = (await response.json()) as Chunk
    expect(JSON.parse(String(candidates[0].content.parts[0]?.['text']))).toEqual({ score: 1000, why: 'Scripted title' })
    const whole = (await (await ask('say so\ntool ls', 'generateContent')).json()) as Chunk
    expect(whole.candidates[0]).toMatchObject({
      content: { parts: [{ text: 'so\n\n' }, { functionCall: { name: 'run_shell_command' } }] },
      finishReason: 'STOP',
    })
  })

  it('answers an error in the words of that wire', async () => {
    const response = await ask('error 429')
    const error = { code: 429, message: 'scripted error 429', status: 'RESOURCE_EXHAUSTED' }
    expect([response.status, await response.json()]).toEqual([429, { error }])
  })

  it('counts tokens when it is asked to', async () => {
    expect(await (await post('countTokens', {})).json()).toEqual({ totalTokens: 120 })
  })

  it('tells its owner what it was asked', async () => {
    await (await ask('reply x')).text()
    expect(seen.at(-1)).toEqual({
      model: 'm',
      isStreaming: true,
      systemPrompt: 'Be brief.',
      tools: [{ name: 'run_shell_command', schema }],
      items: [{ kind: 'user', text: 'reply x' }],
    })
  })
})

it('reads results and refusals, and leaves out what the program says of itself', () => {
  const call = { role: 'model', parts: [{ functionCall: { name: 'run_shell_command', args: {} } }] }
  const result = (response: object) => ({ role: 'user', parts: [{ functionResponse: { name: 'x', response } }] })
  const contents = [
    { role: 'user', parts: [{ text: '<session_context>\nreply no\n</session_context>' }, { text: 'tool ls' }] },
    { role: 'model', parts: [{ text: 'I look.' }] },
    call,
    result({ output: 'a file' }),
    call,
    result({ error: '[Operation Cancelled] Reason: the person said no' }),
    user('reply yes'),
  ]
  expect(geminiWire.read({ contents }, '/v1beta/models/m:generateContent').items).toEqual([
    { kind: 'user', text: 'tool ls' },
    { kind: 'assistant' },
    { kind: 'result', text: 'a file' },
    { kind: 'assistant' },
    { kind: 'interrupted' },
    { kind: 'user', text: 'reply yes' },
  ])
})
