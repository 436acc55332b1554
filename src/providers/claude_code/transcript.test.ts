import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findLastTurn, findTranscript, loadTranscript, parseTranscript } from './transcript.ts'

const recorded = readFileSync(join(import.meta.dirname, 'fixtures', '2.1.332', 'transcript.jsonl'), 'utf8')
const line = (fields: object) => JSON.stringify({ isSidechain: false, ...fields })
const user = (content: unknown, promptId = 'p1') => line({ type: 'user', promptId, message: { role: 'user', content } })
const assistant = (id: string, ...content: object[]) => line({ type: 'assistant', message: { id, content } })
const text = (value: string) => ({ type: 'text', text: value })
const lastTurn = (...lines: string[]) => findLastTurn(parseTranscript(lines.join('\n')))

describe('a recorded transcript', () => {
  const records = parseTranscript(recorded)

  it('gives prompts, answers and interruptions in order', () => {
    const told = records.map((record) => {
      switch (record.kind) {
        case 'answer':
          return `${record.isError ? 'error' : 'answer'}: ${record.text.split('\n', 1)[0]}`
        case 'prompt':
        case 'queued':
          return `${record.kind}: ${record.text}`
        case 'step':
        case 'interrupted':
          return record.kind
      }
    })
    expect(told).toEqual([
      'prompt: reply hello one',
      'answer: hello one',
      'prompt: slow 20',
      'answer: alpha bravo charlie',
      'interrupted',
      'prompt: tool touch /home/dev/proj/made',
      'step',
      'answer: Done.',
      'prompt: ask Which colour do you want? | Red | Blue',
      'step',
      'answer: Done.',
      'prompt: hang',
      'prompt: slow 6',
      'queued: reply queued one',
      'answer: alpha bravo charlie',
      'prompt: reply queued one',
      'answer: queued one',
      'prompt: error 400',
      'error: API Error: 400 scripted error 400',
      'prompt: error 429',
    ])
  })

  /** How the newest turn stood after each line; a line that changes nothing is left out. */
  it('tells at each line how the newest turn stands', () => {
    const lines = recorded.trimEnd().split('\n')
    const stands = lines.map((_, at) => {
      const turn = lastTurn(...lines.slice(0, at + 1))
      return turn.kind === 'ended' ? turn.outcome : turn.kind
    })
    const moves = stands.filter((stand, at) => stand !== stands[at - 1])
    const expected = `none open answered open answered interrupted open answered open answered open answered open
      answered open failed open`
    expect(moves).toEqual(expected.split(/\s+/))
  })
})

describe('findLastTurn', () => {
  it('puts the texts of the last message together, and no earlier one', () => {
    expect(
      lastTurn(
        user('do it'),
        assistant('m1', text('I begin.'), { type: 'tool_use', name: 'Bash' }),
        user([{ type: 'tool_result', content: 'token 0123456789ab' }]),
        assistant('m2', text('one')),
        assistant('m2', text('two')),
      ),
    ).toEqual({ kind: 'ended', outcome: 'answered', text: 'one\ntwo' })
  })

  it('takes a tool that still runs for an open turn, and a refused one for an interruption', () => {
    const call = assistant('m1', { type: 'tool_use', name: 'Bash' })
    const refusal = user([{ type: 'tool_result' }, text('[Request interrupted by user for tool use]')])
    expect([lastTurn(user('x'), call).kind, lastTurn(user('x'), call, refusal)]).toEqual([
      'open',
      { kind: 'ended', outcome: 'interrupted', text: '' },
    ])
  })

  it('passes over what sub-agents, slash commands and the program itself wrote', () => {
    const own = [
      line({ type: 'user', isMeta: true, message: { content: 'a caveat' } }),
      line({ type: 'assistant', isSidechain: true, message: { id: 'm9', content: [text('of a sub-agent')] } }),
      user('<command-name>/model</command-name>'),
      user('<local-command-stdout>set</local-command-stdout>'),
      line({ type: 'user', message: 'odd' }),
      '{"type":"user","message":{"content":"half a li',
      'null',
    ]
    expect(lastTurn(user('x'), assistant('m1', text('yes')), ...own)).toMatchObject({
      outcome: 'answered',
      text: 'yes',
    })
  })
})

it('reads a collapsed paste as what was pasted', () => {
  const pasted =
    '\n\n<pasted_content id="9c4e">\n[cao assign 7f3a12345678 from 1a2b3c4d]\nreply x\n</pasted_content id="9c4e">\n'
  expect(parseTranscript(user(pasted))).toEqual([
    { kind: 'prompt', text: '[cao assign 7f3a12345678 from 1a2b3c4d]\nreply x', promptId: 'p1' },
  ])
})

describe('transcript files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'cao-transcript-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('are found below whichever project they belong to, or are missing', async () => {
    expect(await findTranscript(join(dir, 'none'), 'abc')).toBe(undefined)
    const project = join(dir, 'projects', '-home-dev-proj')
    mkdirSync(project, { recursive: true })
    writeFileSync(join(dir, 'projects', 'a file'), '')
    const path = join(project, 'abc.jsonl')
    writeFileSync(path, `${user('x')}\n`)
    expect([await findTranscript(dir, 'abc'), await findTranscript(dir, 'abd')]).toEqual([path, undefined])
    expect(await loadTranscript(path)).toMatchObject({ kind: 'read', records: [{ text: 'x' }] })
    expect(await loadTranscript(join(project, 'abd.jsonl'))).toEqual({ kind: 'missing' })
  })
})
