import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseChat } from '../gemini_family/chat-files.ts'
import { listTurns, readEnd } from '../gemini_family/turn.ts'
import { describeError, GeminiChatParser } from './chat-record.ts'

const recording = readFileSync(join(import.meta.dirname, 'fixtures', '0.61.0', 'chat.jsonl'), 'utf8')

describe("Gemini CLI's record", () => {
  it('tells every prompt once, although earlier ones are written again after a refused tool', () => {
    const records = parseChat(recording, new GeminiChatParser())
    expect(records.flatMap((record) => (record.kind === 'prompt' ? [record.text] : []))).toEqual([
      'say first block\nslow 4',
      'hang',
      'say I look.\ntool touch /home/dev/proj/x1\nsay first part\nreply it says {result}',
      'say a\ntool touch /home/dev/proj/x2',
      'reply short',
      'error 400',
      'say half\ncrash',
      'tool touch /home/dev/proj/x3',
      'tool touch /home/dev/proj/x3',
      'ask Which colour? | Red | Blue\nreply It said: {result}',
    ])
  })

  it('tells how every turn ended', () => {
    const ends = listTurns(parseChat(recording, new GeminiChatParser())).map((turn) => readEnd(turn, turn.lastMs))
    expect(ends.map((end) => end?.outcome)).toEqual([
      'answered',
      'interrupted',
      'answered',
      'answered',
      'answered',
      'failed',
      'failed',
      'interrupted',
      'interrupted',
      // Not over yet.
      undefined,
    ])
    expect(ends[2]).toMatchObject({ text: expect.stringMatching(/^first part\n\nit says /) as unknown })
    expect([ends[5], ends[6]]).toMatchObject([{ error: 'scripted error 400' }, { error: 'terminated' }])
  })

  it('is read the same in pieces', () => {
    const parser = new GeminiChatParser()
    const pieces = recording.split('\n').map((line) => parseChat(line, parser))
    expect(pieces.flat()).toEqual(parseChat(recording, new GeminiChatParser()))
  })

  it('leaves out what is no record', () => {
    expect(parseChat('\n{"type":"user"}\nnoise\n{"half', new GeminiChatParser())).toEqual([])
  })
})

it.each([
  ['[API Error: {"error":{"code":429,"message":"slow down","status":"X"}}]', 'slow down (429)'],
  ['[API Error: {"error":{"code":400,"message":"scripted error 400"}}]', 'scripted error 400'],
  ['[API Error: terminated]', 'terminated'],
  ['Something else', 'Something else'],
])('the error "%s" is told in its own words', (text, told) => {
  expect(describeError(text)).toBe(told)
})
