/** docs/wiring.md says of each CLI what its provider declares, and names each of them in every table. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProviders } from '../src/main/create-providers.ts'
import type { Provider } from '../src/providers/provider.ts'
import { ownPlaces } from './conformance/home-diff.case.ts'

const root = join(import.meta.dirname, '..')
const text = readFileSync(join(root, 'docs', 'wiring.md'), 'utf8')
const providers = createProviders(root)

/** Rows of the table below a heading, by provider and column. */
function readTable(heading: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const section = text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const [head = [], , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
  const named = rows.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ''])))
  return new Map(named.map((row) => [row['Provider']?.replaceAll('`', '') ?? '', row]))
}

function describeAnnounced({ announces }: Provider): string {
  return Object.entries(announces)
    .map(([source, kinds]) => `${source}: ${kinds.join(', ')}`)
    .join(' · ')
}

/** Versions that the install files of the providers pin. */
function readVersion(name: string): string {
  if (name === 'scripted') return 'of this repository'
  const install = readFileSync(join(root, 'src', 'providers', name, 'install.ts'), 'utf8')
  return /^export const \w+Version = '([^']+)'$/m.exec(install)?.[1] ?? 'not pinned'
}

const headings = [
  'Started, and ended',
  "Who it is to CAO's tools",
  'What tells what',
  'Permission modes, and limits that are not enforced',
]

describe('docs/wiring.md', () => {
  test.each(headings)('has a row for each provider: %s', (heading) => {
    expect([...readTable(heading).keys()].toSorted()).toEqual(providers.map(({ name }) => name).toSorted())
  })

  test.each(providers)('says what $name announces, what it can, and at which version it was measured', (provider) => {
    const row = readTable('What tells what').get(provider.name)
    expect(row).toMatchObject({
      Version: readVersion(provider.name),
      Announces: describeAnnounced(provider),
      Can: [...provider.capabilities].join(', '),
    })
  })

  test('names the places in HOME that are compared, and no others', () => {
    const rows = [...readTable("What changes in the person's HOME")].map(([name, row]) => [
      name,
      [...(row['Places'] ?? '').matchAll(/`([^`]+)`/g)].map(([, path]) => path),
    ])
    const compared = Object.entries(ownPlaces).map(([name, places]) => [name, places.map(({ path }) => path)])
    expect(rows).toEqual(compared)
    const others = providers.map(({ name }) => name).filter((name) => name !== 'scripted')
    expect(others.filter((name) => ownPlaces[name] === undefined)).toEqual([])
  })
})
