import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseChat } from '../gemini_family/chat-files.ts'
import { listTurns, readEnd } from '../gemini_family/turn.ts'
import { QwenChatParser } from './chat-record.ts'

const recording = readFileSync(join(import.meta.dirname, 'fixtures', '0.24.4', 'chat.jsonl'), 'utf8')
const read = () => parseChat(recording, new QwenChatParser())

it("Qwen Code's record tells its prompts and how their turns ended", () => {
  const prompts = read().flatMap((record) => (record.kind === 'prompt' ? [record.text] : []))
  const ends = listTurns(read()).map((turn) => readEnd(turn, turn.lastMs))
  expect(prompts.map((text, at) => [text.split('\n', 1)[0], ends[at]?.outcome])).toEqual([
    ['hang', undefined],
    // Broken off in its middle: no word on a response, no tokens.
    ['slow 20', 'interrupted'],
    ['error 400', 'failed'],
    ['say half', 'failed'],
    ['tool touch /home/dev/proj/x1', 'answered'],
    ['tool touch /home/dev/proj/x2', 'interrupted'],
  ])
  expect([ends[2], ends[4]]).toMatchObject([
    { error: '400 scripted error 400' },
    { text: 'done it', cost: { inputTokens: 240, outputTokens: 40 } },
  ])
})

it('a record that is read in pieces says the same', () => {
  const parser = new QwenChatParser()
  expect(recording.split('\n').flatMap((line) => parseChat(line, parser))).toEqual(read())
})
