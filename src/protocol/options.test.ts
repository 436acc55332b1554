import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { AppError } from '../domain/errors.ts'
import {
  findOption,
  type OptionName,
  optionNames,
  optionOf,
  optionTable,
  readOptions,
  readSetting,
  requireOptionName,
  unknownSettings,
  writeSetting,
} from './options.ts'

const refusal = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'no refusal'
}

describe('the value of an option', () => {
  const settings = { server: { port: 9001 } }

  test.each([
    [
      'a flag wins over all',
      { flags: { 'server.port': '9003' }, env: { CAO_API_PORT: '9002' }, settings },
      9003,
      'flag',
    ],
    ['the environment wins over settings.json', { env: { CAO_API_PORT: '9002' }, settings }, 9002, 'environment'],
    ['settings.json wins over the default', { env: { CAO_API_PORT: '' }, settings }, 9001, 'settings'],
    ['the default comes last', { env: {}, settings: {} }, 9889, 'default'],
  ] as const)('%s', (_what, sources, value, source) => {
    expect(findOption('server.port', sources)).toEqual({ value, source })
  })

  test('that is wrong is refused by the place it stands at, and what is right there', () => {
    const words = 'takes a port from 0 to 65535, or none, and not'
    const none = { env: {}, settings: {} }
    expect(refusal(() => readOptions({ ...none, flags: { 'server.port': '1e3' } }))).toBe(
      `BAD_REQUEST: --port ${words} "1e3"`,
    )
    expect(refusal(() => readOptions({ ...none, env: { CAO_API_PORT: '65536' } }))).toBe(
      `BAD_REQUEST: CAO_API_PORT ${words} "65536"`,
    )
    expect(refusal(() => readOptions({ ...none, settings: { server: { port: [1] } } }))).toBe(
      `BAD_REQUEST: server.port in settings.json ${words} [1]`,
    )
  })

  test('is the same from a text and from JSON, for every kind', () => {
    const env = { CAO_API_PORT: 'none', CAO_ALLOWED_HOSTS: ' a.example , b.example,', CAO_RECOVER: 'auto' }
    const settings = {
      server: { port: 'none', allowed_hosts: ['a.example', 'b.example'] },
      terminal: { recover: 'auto' },
    }
    expect(readOptions({ env, settings: {} })).toEqual(readOptions({ env: {}, settings }))
  })
})

test('every option can be written into the settings and is read back as the same value', () => {
  for (const name of optionNames) {
    const row = optionOf(name)
    const samples = [row.default, '7', 'auto', 'tmux', 'warn', '80x24', '/a,/b', '["a","b c"]', '22:00-07:30'].flatMap(
      (given) => {
        const parsed = given === undefined ? undefined : row.type.parse(given)
        return parsed === undefined ? [] : [parsed.value]
      },
    )
    expect(samples, name).not.toEqual([])
    for (const value of samples) {
      const settings = JSON.parse(JSON.stringify(writeSetting({ other: 1 }, name, value)))
      expect(findOption(name, { env: {}, settings }).value, name).toEqual(
        Array.isArray(value) && value.length === 0 ? row.default : value,
      )
      expect(row.type.parse(row.type.format(value))?.value, name).toEqual(value)
      expect(writeSetting(settings, name, undefined), name).toEqual({ other: 1 })
    }
  }
})

test('what else stands in the settings stays, and is named', () => {
  const settings = { memory: { enabled: true }, server: { prot: 1, port: 2 }, theme: 'dark' }
  expect(writeSetting(settings, 'server.port', 3)).toEqual({ ...settings, server: { prot: 1, port: 3 } })
  expect(unknownSettings(settings)).toEqual(['memory.enabled', 'server.prot', 'theme'])
  expect(readSetting({ server: 'odd' }, 'server.port')).toBeUndefined()
})

test('an unknown name is refused with those that are near', () => {
  expect(requireOptionName('CAO_API_PORT')).toBe('server.port')
  expect(refusal(() => requireOptionName('server.prot'))).toMatch(/is it server\.port/)
  expect(refusal(() => requireOptionName('recover'))).toMatch(/is it terminal\.recover\?/)
  expect(refusal(() => requireOptionName('zzzzzz'))).toMatch(/"cao config list" shows all/)
})

test('the table in README.md is this table', () => {
  const cell = (text: string) => (text === '' ? '' : `\`${text}\``)
  const row = (name: OptionName) => {
    const { env = '', type, default: value, meaning } = optionOf(name)
    const words = [cell(env), cell(name), value === undefined ? '' : cell(type.format(value)), meaning]
    return `| ${words.join(' | ')} |`.replaceAll('|  |', '| |').replaceAll('|  |', '| |')
  }
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const lines = readme.split('\n')
  const start = lines.findIndex((line) => line.startsWith('| `CAO_HOME`')) + 1
  expect(lines.slice(start, start + optionNames.length)).toEqual(optionNames.map(row))
  expect(Object.keys(optionTable)).toEqual(optionNames)
})
