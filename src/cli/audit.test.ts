import { expect, test } from 'vitest'
import { parseAudit } from './audit.ts'

test('a line that a crash has cut is left out, the others stay', () => {
  expect(parseAudit('{"status":200}\n{"status":403}\n{"sta')).toEqual([{ status: 200 }, { status: 403 }])
  expect(parseAudit('')).toEqual([])
})
