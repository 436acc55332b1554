import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { migrations } from '../../src/store/sqlite/migrate.ts'
import { applicationId } from '../../src/store/sqlite/schema.ts'

/** A released migration never changes: files out there were made by it. A new version is a new line here. */
const pinned = [
  '1 d7a4351732a7f7dd',
  '2 005cfde4a9cbbdf7',
  '3 976824898ece7699',
  '4 6799fac422ad4389',
  '5 5213e29ad7838771',
  '6 3468869c29bb13c4',
]

test('migrations are numbered from one, and each is what it was when it was released', () => {
  const found = migrations.map(({ version, sql }) => {
    const digest = createHash('sha256').update(sql).digest('hex').slice(0, 16)
    return `${version} ${digest}`
  })
  expect(found).toEqual(pinned)
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
})

test('a file of ours is known by the same mark for ever', () => {
  expect(applicationId).toBe(0x43414f31)
})
