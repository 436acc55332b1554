import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { version } from './version.ts'

test('the programs say the version that the package has', () => {
  const file = new URL('../../package.json', import.meta.url)
  expect(version).toBe((JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version)
})
