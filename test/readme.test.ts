/** What README.md says there is, held to what there is: providers, options, tools, commands. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandTable } from '../src/cli/commands.ts'
import { createProviders } from '../src/main/create-providers.ts'
import { opsTools } from '../src/mcp/ops/ops-tools.ts'
import { tools } from '../src/mcp/tools.ts'
import { optionNames, optionOf } from '../src/protocol/options.ts'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const rows = readme.split('\n').filter((line) => line.startsWith('|'))

test('of the agent CLIs exactly those that there are count as there', () => {
  const [, named = ''] = /\n- Agent CLIs beside (.*?), such as/s.exec(readme) ?? []
  const names = createProviders(root).map(({ name }) => name)
  expect(new Set([...named.matchAll(/`(\w+)`/g)].map(([, name]) => name))).toEqual(new Set(names))
})

test('each option has its row, with its variable', () => {
  const cellsOf = (name: string) => rows.filter((row) => row.includes(`\`${name}\``)).map((row) => row.split('|')[1])
  const told = optionNames.map((name) => [name, cellsOf(name).map((cell) => cell?.trim() ?? '')])
  const variable = (name: (typeof optionNames)[number]) => {
    const { env } = optionOf(name)
    return env === undefined ? '' : `\`${env}\``
  }
  expect(told).toEqual(optionNames.map((name) => [name, [variable(name)]]))
})

test('each tool has its place in the tables', () => {
  const names = [...tools, ...opsTools].map(({ name }) => name)
  expect(
    names.filter((name) => !rows.some((row) => row.includes(`\`${name}\``) || row.includes(`\`${name}(`))),
  ).toEqual([])
})

test('whatever a text calls a command of cao is one', () => {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  const texts = ['ARCHITECTURE.md', 'TERMS.md', 'THREATS.md', ...docs.map((name) => join('docs', name))]
  const all = [readme, ...texts.map((file) => readFileSync(join(root, file), 'utf8'))].join('\n')
  const called = [...all.matchAll(/[`$] ?cao ([a-z]+)/g)].map(([, name]) => name ?? '')
  const known = new Set(['help', ...commandTable.map(({ name }) => name)])
  expect(called.length).toBeGreaterThan(50)
  expect(called.filter((name) => !known.has(name))).toEqual([])
})
