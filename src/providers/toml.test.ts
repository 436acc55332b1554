import { expect, it } from 'vitest'
import { formatToml } from './toml.ts'

it.each([
  ['a "b" \\ \n \u0001\u007f é', '"a \\"b\\" \\\\ \\n \\u0001\\u007F é"'],
  ['half \ud83d', '"half \ufffd"'],
  [true, 'true'],
  [1.5, '1.5'],
  [Number.POSITIVE_INFINITY, 'inf'],
  [['a', 1, null], '["a", 1]'],
  [{ plain: 'x', '/srv/x': { a: [] }, none: undefined }, '{plain = "x", "/srv/x" = {a = []}}'],
])('writes %j', (value, text) => {
  expect(formatToml(value)).toBe(text)
})
