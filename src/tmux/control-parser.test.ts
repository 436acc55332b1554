import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ControlEvent, type ControlLimits, ControlParser, controlLimits } from './control-parser.ts'

const bytes = (value: string): Uint8Array => Buffer.from(value, 'utf8')

/** Events with their bytes as latin1, so that they compare by content. */
function parse(chunks: readonly Uint8Array[], limits: ControlLimits = controlLimits): unknown[] {
  const parser = new ControlParser(limits)
  return chunks.flatMap((chunk) => parser.feed(chunk)).map(plain)
}

function plain(event: ControlEvent): unknown {
  const show = (value: Uint8Array) => Buffer.from(value).toString('latin1')
  if (event.kind === 'block') return { ...event, lines: event.lines.map(show) }
  if (event.kind === 'notification') return { ...event, payload: show(event.payload) }
  return event.kind === 'stray' ? { ...event, line: show(event.line) } : event
}

function split(whole: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b), whole.length]
  return at.slice(1).map((end, index) => whole.subarray(at[index], end))
}

const guard = fc
  .tuple(fc.constantFrom('begin', 'end', 'error'), fc.constantFrom('1 2 1', '1 2 0', '1 3 1', '9 9'))
  .map(([word, tag]) => bytes(`%${word} ${tag}`))
const anyLine = fc.oneof(
  { weight: 3, arbitrary: guard },
  fc.constantFrom('%exit', '%exit server exited', '%session-changed $1 a', '%', '% x', '', '%output %1 a').map(bytes),
  fc.uint8Array({ maxLength: 40 }),
)
const stream = fc
  .array(anyLine, { maxLength: 30 })
  .map((lines) => Buffer.concat(lines.flatMap((line) => [line, bytes('\n')])))

describe('the control mode parser', () => {
  test('a reply, a failed reply, notifications and the exit come out in order', () => {
    const text =
      '%begin 10 1 0\n%end 10 1 0\n%session-changed $0 keeper\n%begin 10 2 1\nhello\n\n%end 10 2 1\n' +
      "%begin 11 3 1\ncan't find pane: %9\n%error 11 3 1\nodd\n%exit server exited unexpectedly\n%exit\n"
    expect(parse([bytes(text)])).toEqual([
      { kind: 'block', number: 1, flags: 0, ok: true, lines: [] },
      { kind: 'notification', name: 'session-changed', payload: '$0 keeper' },
      { kind: 'block', number: 2, flags: 1, ok: true, lines: ['hello', ''] },
      { kind: 'block', number: 3, flags: 1, ok: false, lines: ["can't find pane: %9"] },
      { kind: 'stray', line: 'odd' },
      { kind: 'exit', reason: 'server exited unexpectedly' },
      { kind: 'exit', reason: undefined },
    ])
  })

  test('only the identical three numbers end a block; everything else in it is content', () => {
    const content = [
      '%end 10 2 0',
      '%end 10 3 1',
      '%error 9 2 1',
      '%begin 10 2 1',
      '%exit',
      '%end 10 2 1 ',
      ' %end 10 2 1',
    ]
    const text = `%begin 10 2 1\n${content.join('\n')}\n%end 10 2 1\n`
    expect(parse([bytes(text)])).toEqual([{ kind: 'block', number: 2, flags: 1, ok: true, lines: content }])
  })

  test('bytes that are no UTF-8 stay as they are', () => {
    const text = Buffer.concat([bytes('%begin 1 2 1\n'), Buffer.from([0xff, 0x00, 0xc3]), bytes('\n%end 1 2 1\n')])
    expect(parse([text])).toEqual([{ kind: 'block', number: 2, flags: 1, ok: true, lines: ['\xff\x00\xc3'] }])
  })

  test('any split of the same bytes gives the same events', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(2_000), { maxLength: 20 }), (whole, cuts) => {
        expect(parse(split(whole, cuts))).toEqual(parse([whole]))
      }),
    )
  })

  test('any split gives the same events when limits are passed too, and no more than one overflow', () => {
    const limits = { lineBytesMax: 24, blockBytesMax: 50 }
    fc.assert(
      fc.property(stream, fc.array(fc.nat(2_000), { maxLength: 20 }), (whole, cuts) => {
        const events = parse(split(whole, cuts), limits)
        expect(events).toEqual(parse([whole], limits))
        const overflows = events.filter((event) => (event as ControlEvent).kind === 'overflow')
        expect(overflows.length).toBeLessThanOrEqual(1)
        if (overflows.length === 1) expect(events.at(-1)).toEqual(overflows[0])
      }),
    )
  })

  test('random bytes never make it throw', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
        parse(chunks, { lineBytesMax: 100, blockBytesMax: 300 })
      }),
    )
  })

  test('a line at the limit passes and one byte more is an overflow, also before its newline has come', () => {
    const limits = { lineBytesMax: 8, blockBytesMax: 100 }
    expect(parse([bytes('12345678\n')], limits)).toEqual([{ kind: 'stray', line: '12345678' }])
    expect(parse([bytes('12345'), bytes('6789')], limits)).toEqual([{ kind: 'overflow', what: 'line', limitBytes: 8 }])
    expect(parse([bytes('123456789\n%exit\n')], limits)).toEqual([{ kind: 'overflow', what: 'line', limitBytes: 8 }])
  })

  test('a block over its limit is an overflow and nothing comes after it', () => {
    const limits = { lineBytesMax: 50, blockBytesMax: 6 }
    const chunks = [bytes('%begin 1 1 1\nabc\nabc\n%end 1 1 1\n'), bytes('%exit\n')]
    expect(parse(chunks, limits)).toEqual([{ kind: 'overflow', what: 'block', limitBytes: 6 }])
  })

  test('the caller may reuse its buffer', () => {
    const parser = new ControlParser()
    const buffer = bytes('%begin 1 1 1\nab')
    parser.feed(buffer)
    buffer.fill(0x7a)
    const events = parser.feed(bytes('c\n%end 1 1 1\n'))
    expect(events.map(plain)).toEqual([{ kind: 'block', number: 1, flags: 1, ok: true, lines: ['abc'] }])
  })
})
