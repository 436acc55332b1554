import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCall, parseNumber, parseQuestion, parseRules, verbs } from './rules.ts'

describe('parseRules', () => {
  it('reads one rule per line, in order, and leaves prose out', () => {
    const text = [
      'Please do this:',
      '  say I begin.',
      'slow 2',
      'tool echo "a | b"\r',
      'call send_message {"to":"1a2b3c4d","n":[1]}',
      'Then answer.',
      'reply done\\nreally',
    ].join('\n')
    expect(parseRules(text)).toEqual([
      { verb: 'say', rest: 'I begin.' },
      { verb: 'slow', rest: '2' },
      { verb: 'tool', rest: 'echo "a | b"' },
      { verb: 'call', rest: 'send_message {"to":"1a2b3c4d","n":[1]}' },
      { verb: 'reply', rest: 'done\\nreally' },
    ])
  })

  it.each([
    'wait for me',
    'slow down',
    'hang on',
    'long story',
    'call me later',
    'error in line 3',
    'reply',
    'say',
    'collect stamps',
    'replying now',
    'Reply loud',
    'unicode is hard',
    'freeze',
    'constructor x',
  ])('takes "%s" for prose', (line) => {
    expect(parseRules(line)).toEqual([])
  })

  it.each([
    'slow',
    'slow 0.5',
    'long',
    'long 300',
    'crash',
    'crash 3',
    'imitate',
    'imitate composer',
    'swallow-enter',
    'swallow-enter 2',
    'hang',
    'call handoff',
    'call handoff {"ms":3000}',
    'call broken {"ms":',
  ])('takes "%s" for a rule', (line) => {
    expect(parseRules(line)).toHaveLength(1)
  })

  it('knows every verb of the language', () => {
    const all = `ask call collect crash error flood freeze hang imitate limit long markdown reply say slow slow-paint
      swallow-enter think tool unicode wait`
    expect([...verbs].sort()).toEqual(all.split(/\s+/))
  })

  it('never throws, and gives at most one rule per line', () => {
    const word = fc.oneof(fc.constantFrom(...verbs), fc.string())
    const line = fc.tuple(word, fc.string({ unit: 'binary' })).map(([verb, rest]) => `${verb} ${rest}`)
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join('\n')
        expect(parseRules(text).length).toBeLessThanOrEqual(text.split(/\r\n|\r|\n/).length)
      }),
    )
  })
})

describe('the rest of a rule', () => {
  it('splits a question from its options at the bars', () => {
    expect(parseQuestion('Which colour? | Red |  Blue sky| ')).toEqual({
      text: 'Which colour?',
      options: ['Red', 'Blue sky'],
    })
  })

  it('reads a tool and its arguments', () => {
    expect(parseCall('handoff {"ms":3000,"text":"a {b}"}')).toEqual({
      kind: 'call',
      tool: 'handoff',
      args: { ms: 3000, text: 'a {b}' },
    })
    expect(parseCall('handoff')).toEqual({ kind: 'call', tool: 'handoff', args: {} })
  })

  it('says why arguments can not be read', () => {
    expect(parseCall('handoff {"ms":')).toMatchObject({ kind: 'unreadable', tool: 'handoff' })
    expect(parseCall('handoff [1]')).toEqual({
      kind: 'unreadable',
      tool: 'handoff',
      why: 'the arguments are no JSON object',
    })
  })

  it('takes the given number where a rule names none', () => {
    expect([parseNumber('', 15), parseNumber('0', 15), parseNumber('0.5', 15)]).toEqual([15, 0, 0.5])
  })
})
