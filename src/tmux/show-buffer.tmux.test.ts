import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PrivateServer, startPrivateServer } from './private-server.case.ts'
import { quote } from './quote.ts'
import { decodeShownBuffer, judgeBufferProbe, unescapeBufferLine } from './show-buffer.ts'

let tmux: PrivateServer
beforeAll(async () => {
  tmux = await startPrivateServer()
})
afterAll(async () => {
  await tmux[Symbol.asyncDispose]()
})

async function show(content: string): Promise<string> {
  const path = join(tmux.dir, 'content')
  writeFileSync(path, content)
  const line = `load-buffer -b s ${quote(path)} ; show-buffer -b s ; delete-buffer -b s`
  const outcome = await tmux.connection.run(line, { replies: 3 })
  const shown = outcome.kind === 'replied' ? (outcome.replies[1]?.lines ?? []) : []
  return Buffer.concat(
    decodeShownBuffer(shown, tmux.connection.bufferEncoding).flatMap((each, index) =>
      index === 0 ? [each] : [Buffer.from('\n'), each],
    ),
  ).toString('utf8')
}

describe('reading a paste buffer', () => {
  test('every text of a screen comes back exactly', async () => {
    const parts = [
      '\\',
      '$',
      '$HOME',
      '${',
      '\x1b[31m',
      '\x1b',
      'é',
      '🙂',
      '漢',
      '\n',
      '"',
      '0',
      '12',
      '#',
      '%end 1 2 1',
      ' ',
      '\t',
      '\x0e',
      '\x7f',
    ]
    const content = fc.array(
      fc.oneof(fc.constantFrom(...parts), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 })),
      { minLength: 1, maxLength: 30 },
    )
    await fc.assert(
      fc.asyncProperty(content, async (list) => {
        // As capture-pane makes it: lines that each end with a newline.
        const text = list.join('').replaceAll('\0', '')
        expect(await show(`${text}\n`)).toBe(text)
      }),
      { numRuns: 150 },
    )
  })

  test('the answer to the probe decides, whatever the version says', () => {
    expect([judgeBufferProbe('a\\b$c'), judgeBufferProbe('a\\b$c\n'), judgeBufferProbe('a\\\\b\\$c')]).toEqual([
      'raw',
      'raw',
      'escaped',
    ])
  })

  test('an escape that is none stays as it is', () => {
    const undo = (line: string) => Buffer.from(unescapeBufferLine(Buffer.from(line))).toString('latin1')
    expect(['\\033[1m', '\\\\', '\\q', 'end\\', '\\09', '\\t\\$x'].map(undo)).toEqual([
      '\x1b[1m',
      '\\',
      '\\q',
      'end\\',
      '\\09',
      '\t$x',
    ])
  })
})
