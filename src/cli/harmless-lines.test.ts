import { expect, test } from 'vitest'
import { HarmlessLines } from './harmless-lines.ts'
import { formatServerLine } from './logs.ts'
import { parseAge } from './purge.ts'

/** The text in pieces of `size` bytes. */
function read(text: string, size: number): readonly string[] {
  const bytes = Buffer.from(text)
  const lines = new HarmlessLines()
  const found: string[] = []
  for (let at = 0; at < bytes.length; at += size) found.push(...lines.add(bytes.subarray(at, at + size)))
  return [...found, ...lines.end()]
}

test.each([1, 2, 3, 7, 1_000])(
  'in pieces of %i bytes: no escape sequence, no cut character, a line for each row that is painted',
  (size) => {
    const painted =
      '\u001b]0;title\u0007\u001b[2J\u001b[1;1Hfirst \u001b[31mred\u001b[0m\u001b[2;1Hsecond \u6f22\r\n\r\n\r\n\u001b[3;1Hthird\r\nover\rwritten\n\u001b]52;c;c2VjcmV0\u001b\\end'
    expect(read(painted, size)).toEqual(['first red', 'second \u6f22', '', 'third', 'over', 'written', 'end'])
  },
)

test('a line without an end does not wait for ever', () => {
  const lines = new HarmlessLines()
  expect(lines.add(Buffer.from('x'.repeat(100_000)))).toEqual(['x'.repeat(100_000)])
})

test('a line of the log becomes one line for people, whatever stands in it', () => {
  const line = {
    at: '2026-01-01T00:00:00.000Z',
    level: 'warn',
    message: 'it \u001b[31mfailed',
    terminalId: 'aaaaaaaa',
    n: 3,
  }
  expect(formatServerLine(JSON.stringify(line))).toBe('2026-01-01T00:00:00.000Z warn it failed terminalId=aaaaaaaa n=3')
  expect(formatServerLine('    at stack (file.ts)')).toBe('    at stack (file.ts)')
})

test('an age has a number and a unit', () => {
  expect(['30d', '12h', '90m', '0d'].map(parseAge)).toEqual([2_592_000, 43_200, 5_400, 0])
  for (const bad of ['30', 'd', '-1d', '1.5h', '1y', ''])
    expect(() => parseAge(bad)).toThrow('takes a number and m, h or d')
})
