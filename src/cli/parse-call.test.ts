import { describe, expect, test } from 'vitest'
import { AppError } from '../domain/errors.ts'
import { parseAssignment } from './client-env.ts'
import type { Command } from './command.ts'
import { numberOption, parseCall, requireTerminalId, takePositionals, textsOption } from './parse-call.ts'

const send: Command = {
  usage: 'cao send',
  options: { timeout: { type: 'string' }, tool: { type: 'string', multiple: true } },
  takesText: true,
  run: () => Promise.resolve(0),
}
const strict: Command = { ...send, takesText: false }

function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError && error.code === 'BAD_REQUEST') return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a command that takes text', () => {
  test.each([
    ['-v'],
    ['--'],
    ['-'],
    ['--timeoutless'],
    ['-rf /'],
    ['--no-such-option=1'],
    ["it's $HOME #(touch x);\\"],
  ])('takes %s as text, options before and after it', (text) => {
    const words = text === '--' ? ['1a2b3c4d', '--json', '--', '--'] : ['1a2b3c4d', text, '--json', '--timeout', '3']
    const { options, positionals } = parseCall('send', send, words)
    expect(positionals).toEqual(['1a2b3c4d', text])
    expect(options['json']).toBe(true)
  })

  test('takes what is spelled like an option as text behind "--"', () => {
    expect(parseCall('send', send, ['1a2b3c4d', '--', '--json']).positionals).toEqual(['1a2b3c4d', '--json'])
  })

  test('keeps the values of an option that is given several times', () => {
    const { options } = parseCall('send', send, ['--tool', 'a', '--tool=b', 'x'])
    expect(textsOption(options, 'tool')).toEqual(['a', 'b'])
  })
})

describe('what is wrong is refused in a sentence that says so', () => {
  test('an unknown option, a missing value, a word too many, a missing word, a number that is none', () => {
    expect([
      refusal(() => parseCall('ls', strict, ['--wach'])),
      refusal(() => parseCall('ls', strict, ['--timeout'])),
      refusal(() => takePositionals(['a', 'b'], ['TERMINAL'])),
      refusal(() => takePositionals([], ['TERMINAL'])),
      refusal(() => numberOption({ timeout: '3s' }, 'timeout')),
      refusal(() => numberOption({ timeout: '-3' }, 'timeout')),
    ]).toEqual([
      'unknown option \'--wach\'; "cao ls --help" lists the options',
      '--timeout takes a value; "cao ls --help" lists the options',
      '"b" is one word too many; put a text of several words in quotes',
      'TERMINAL is missing; --help shows the usage',
      '--timeout takes a number, and not "3s"',
      '--timeout takes a number, and not "-3"',
    ])
  })
})

describe('what can not be a value is refused in one line', () => {
  const timed: Command = {
    ...strict,
    options: { timeout: { type: 'string', isNumber: true }, 'session-name': { type: 'string' } },
  }
  test('a word that begins with "-" behind an option, with a hint where it could be meant', () => {
    for (const command of [timed, { ...timed, takesText: true }]) {
      expect([
        refusal(() => parseCall('launch', command, ['--timeout', '-5'])),
        refusal(() => parseCall('launch', command, ['--session-name', '-x'])),
        refusal(() => parseCall('launch', command, ['--session-name', '--json'])),
        refusal(() => parseCall('launch', command, ['--timeout', '--json'])),
      ]).toEqual([
        '--timeout takes a number, and not "-5"',
        '--session-name takes a value, and one that begins with "-" is written --session-name=-x; "cao launch --help" lists the options',
        '--session-name takes a value; "cao launch --help" lists the options',
        '--timeout takes a value; "cao launch --help" lists the options',
      ])
    }
    expect(parseCall('launch', timed, ['--session-name=-x', '--', '--timeout', '-5'])).toMatchObject({
      options: { 'session-name': '-x' },
      positionals: ['--timeout', '-5'],
    })
  })

  test('a number outside its limits', () => {
    expect([
      refusal(() => numberOption({ timeout: '0' }, 'timeout', { above: 0 })),
      refusal(() => numberOption({ timeout: '11' }, 'timeout', { most: 10 })),
      refusal(() => numberOption({ after: '1.5' }, 'after', { isWhole: true })),
      numberOption({ after: '0' }, 'after', { isWhole: true }),
    ]).toEqual([
      '--timeout takes a number above 0, and not 0',
      '--timeout takes 10 at most, and not 11',
      '--after takes a whole number, and not 1.5',
      0,
    ])
  })

  test('an id of a terminal that can be none', () => {
    expect(requireTerminalId('1a2b3c4d')).toBe('1a2b3c4d')
    for (const text of ['', '1a2b3c4', '1A2B3C4D', '../x', '1a2b3c4d '])
      expect(refusal(() => requireTerminalId(text))).toMatch(/^".*" is no id of a terminal: .*cao ls/)
  })
})

describe('--env', () => {
  test('splits at the first "=" and shows no value when it refuses', () => {
    expect(parseAssignment('A=b=c')).toEqual(['A', 'b=c'])
    expect(parseAssignment('A=')).toEqual(['A', ''])
    for (const text of ['A', '=secret', '1A=secret', 'A-B=secret', `A=${'x'.repeat(2048)}`]) {
      const sentence = refusal(() => parseAssignment(text))
      expect(sentence).not.toContain('secret')
      expect(sentence).not.toContain('xxxx')
    }
  })
})
