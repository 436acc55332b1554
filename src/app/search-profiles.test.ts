import { expect, test } from 'vitest'
import type { ListedProfile } from './profile-files.ts'
import { searchProfiles } from './search-profiles.ts'

const profileOf = (name: string, description: string, more: Partial<ListedProfile> = {}): ListedProfile => ({
  name,
  description,
  capabilities: [],
  tags: [],
  role: undefined,
  provider: undefined,
  source: 'local',
  file: `/s/${name}.md`,
  fault: undefined,
  duplicatedIn: [],
  ...more,
})
const profiles = [
  profileOf('sql_reader', 'reads databases', { capabilities: ['write SQL queries'] }),
  profileOf('writer', 'writes code, code and more code in every language', { tags: ['code'] }),
  profileOf('review-code', 'reviews code'),
  profileOf('ärztin', 'liest Befunde'),
  profileOf('broken', 'reviews code', { fault: 'no YAML' }),
]
const search = (query: string, limit?: number) =>
  searchProfiles(profiles, query, limit).map(({ listed, coverage }) => [listed.name, coverage])

test.each([
  [
    'more words found go before a better score',
    'review code sql',
    [
      ['review-code', 2],
      ['sql_reader', 1],
      ['writer', 1],
    ],
  ],
  ['a name of several words is found by one of them', 'SQL', [['sql_reader', 1]]],
  [
    'a word counts once',
    'code code code',
    [
      ['review-code', 1],
      ['writer', 1],
    ],
  ],
  ['letters of any script count', 'ÄRZTIN', [['ärztin', 1]]],
  ['no word, no hit', ' -- ', []],
  ['an unknown word, no hit', 'zebra', []],
])('%s', (_what, query, expected) => {
  const found = search(query)
  // Those that are as good come in no order.
  expect(new Set(found.map(String))).toEqual(new Set(expected.map(String)))
  expect(found).toHaveLength(expected.length)
  expect(found[0]?.[1]).toEqual(expected[0]?.[1])
})

test('one that can not be loaded is not offered, and the limit is kept', () => {
  expect(search('reviews')).toEqual([['review-code', 1]])
  expect(search('code', 1)).toHaveLength(1)
})
