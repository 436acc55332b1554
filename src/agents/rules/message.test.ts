import { describe, expect, it } from 'vitest'
import { fillIn, fillInArgs, renderText } from './fill-in.ts'
import { bodiesOf, bodyOf, echoOf } from './message.ts'

const remembered = { results: ['one', 'two {result}'], messages: ['hello', 'wait 5'] }

describe('bodyOf', () => {
  it('drops the header line and nothing else', () => {
    expect(bodyOf('[cao message 7f3a12345678 from 1a2b3c4d]\nreply a\n\nreply b')).toBe('reply a\n\nreply b')
    expect(bodyOf('[cao message 7f3a12345678 from 1a2b3c4d]\r\nreply a')).toBe('reply a')
    expect(bodyOf('[cao message 7f3a12345678 from 1a2b3c4d]')).toBe('')
  })

  it('leaves a message without header as it is', () => {
    expect(bodyOf('reply [cao message x]\nreply b')).toBe('reply [cao message x]\nreply b')
  })
})

describe('echoOf', () => {
  it('answers with the first line that holds anything', () => {
    expect(echoOf('\n  \n  Good morning \nmore')).toEqual([{ verb: 'reply', rest: 'You said: Good morning' }])
  })
})

describe('fillIn', () => {
  it('puts in the last result, all results and all messages, and does not search what it put in', () => {
    expect(fillIn('{result}/{results}/{messages}/{other}', remembered)).toBe(
      'two {result}/one\ntwo {result}/hello\nwait 5/{other}',
    )
    expect(fillIn('[{result}{messages}]', { results: [], messages: [] })).toBe('[]')
  })

  it('puts in what another agent said, and the whole result where it says nothing of the kind', () => {
    const said = (result: string) => fillIn('{output}', { results: [result], messages: [] })
    expect([said('{"success":true,"output":"yes\\nno"}'), said('{"output":1}'), said('plain'), said('null')]).toEqual([
      'yes\nno',
      '{"output":1}',
      'plain',
      'null',
    ])
  })

  it('makes newlines of the rule itself only', () => {
    expect(renderText('a\\nb {result}', { results: ['c\\nd'], messages: [] })).toBe('a\nb c\\nd')
  })

  it('fills string values of arguments at any depth', () => {
    expect(fillInArgs({ '{result}': '{result}', n: 1, deep: [{ t: '{messages}' }, null] }, remembered)).toEqual({
      '{result}': 'two {result}',
      n: 1,
      deep: [{ t: 'hello\nwait 5' }, null],
    })
  })
})

it('a digest is the messages that it brings, and everything else is itself', () => {
  const digest =
    '[cao digest 0a from cao]\n2 messages came:\n\n[cao callback 0b from 1]\none\n\n[cao notice 0c from cao]\ntwo\n> [cao x]'
  expect([bodiesOf(digest), bodiesOf('[cao callback 0b from 1]\none'), bodiesOf('plain')]).toEqual([
    ['one', 'two\n> [cao x]'],
    ['one'],
    ['plain'],
  ])
})
