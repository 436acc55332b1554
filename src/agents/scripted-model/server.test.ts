import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../async/clock-system.ts'
import type { ModelRequest } from './conversation.ts'
import { openScriptedModel, type ScriptedModel } from './server.ts'

const tools = [{ type: 'function', function: { name: 'bash', parameters: { properties: { command: {} } } } }]
const chat = (port: number, content: string, stream: boolean, signal?: AbortSignal) =>
  fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      stream,
      tools,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: content }] },
      ],
    }),
    ...(signal === undefined ? {} : { signal }),
  })

/** Deltas of the streamed chunks, in order, and the last finish reason. */
function readChunks(text: string): {
  deltas: readonly Readonly<Record<string, string | readonly object[]>>[]
  finish: unknown
} {
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: {'))
  const choices = frames.flatMap(
    (frame) =>
      (
        JSON.parse(frame.slice(6)) as {
          choices: { delta: Record<string, string | readonly object[]>; finish_reason: unknown }[]
        }
      ).choices,
  )
  return { deltas: choices.map((choice) => choice.delta), finish: choices.at(-1)?.finish_reason }
}

describe('the scripted model server', () => {
  const seen: ModelRequest[] = []
  let model: ScriptedModel
  beforeAll(async () => {
    model = await openScriptedModel({ clock: systemClock, port: 0, onRequest: (request) => seen.push(request) })
  })
  afterAll(async () => {
    await model[Symbol.asyncDispose]()
  })

  it('streams the text of a reply and says that it ended', async () => {
    const text = await (await chat(model.port, 'reply a long enough text: 你好 👩‍💻 end', true)).text()
    const { deltas, finish } = readChunks(text)
    expect(deltas.map((delta) => (typeof delta['content'] === 'string' ? delta['content'] : '')).join('')).toBe(
      'a long enough text: 你好 👩‍💻 end',
    )
    expect(finish).toBe('stop')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('tells its owner what it was asked', async () => {
    await (await chat(model.port, 'reply x', true)).text()
    expect(seen.at(-1)).toMatchObject({ systemPrompt: 'Be brief.', items: [{ kind: 'user', text: 'reply x' }] })
  })

  it('streams a tool call', async () => {
    const { deltas, finish } = readChunks(await (await chat(model.port, 'tool ls', true)).text())
    expect(deltas.map((delta) => delta['tool_calls']).filter((calls) => calls !== undefined)).toMatchObject([
      [{ function: { name: 'bash', arguments: '{"command":"ls"}' } }],
    ])
    expect(finish).toBe('tool_calls')
  })

  it('answers whole when no stream is asked for', async () => {
    expect(await (await chat(model.port, 'reply whole', false)).json()).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }],
    })
  })

  it('answers an error rule with its status, and a broken body with 400', async () => {
    const failed = await chat(model.port, 'error 529', true)
    expect([failed.status, await failed.json()]).toMatchObject([529, { error: { message: 'scripted error 529' } }])
    const url = `http://127.0.0.1:${model.port}/v1/chat/completions`
    expect((await fetch(url, { method: 'POST', body: '{' })).status).toBe(400)
    expect((await fetch(`http://127.0.0.1:${model.port}/v1/models`)).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${model.port}/other`)).status).toBe(404)
  })

  it('breaks the connection in mid-answer on crash', async () => {
    const response = await chat(model.port, 'say begun\ncrash', true)
    await expect(response.text()).rejects.toThrow('terminated')
  })

  it('keeps a hanging answer open until the client goes, and closes all the same', async () => {
    const own = await openScriptedModel({ clock: systemClock, port: 0 })
    const response = await chat(own.port, 'hang', true)
    const reading = response.text()
    reading.catch(() => undefined)
    await own[Symbol.asyncDispose]()
    await expect(reading).rejects.toThrow('terminated')
  })
})

describe('the scripted model program', () => {
  const program = fileURLToPath(new URL('../../main/scripted-model.ts', import.meta.url))
  const start = async () => {
    const child = spawn(process.execPath, [program, '--port', '0'], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    return { child, port: (JSON.parse(line) as { port: number }).port }
  }

  it('prints its port, serves, and ends with its stdin', async () => {
    const { child, port } = await start()
    expect(await (await chat(port, 'reply hi', false)).json()).toMatchObject({
      choices: [{ message: { content: 'hi' } }],
    })
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('ends when told to, even with an answer still open', async () => {
    const { child, port } = await start()
    const response = await chat(port, 'hang', true)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    await expect(response.text()).rejects.toThrow('terminated')
  })
})
