import fc from 'fast-check'
import { expect, test } from 'vitest'
import { frameLengthMax, SseParser } from './sse.ts'

const parse = (...parts: readonly (string | Uint8Array)[]) => {
  const parser = new SseParser()
  return parts.flatMap((part) => parser.push(typeof part === 'string' ? Buffer.from(part) : part))
}

test('frames have an id, a name and their data; comments are dropped', () => {
  expect(parse(': hello\n\nevent: snapshot\nid: 4\ndata: {"seq":4}\n\n: beat\n\nid: 5\ndata: a\ndata: b\n\n')).toEqual([
    { id: '4', event: 'snapshot', data: '{"seq":4}' },
    { id: '5', event: 'message', data: 'a\nb' },
  ])
})

test('a frame that has not ended is not given out', () => {
  expect(parse('id: 5\ndata: a\n')).toEqual([])
  expect(parse('id: 5\ndata: a\n', '\n')).toEqual([{ id: '5', event: 'message', data: 'a' }])
})

test('all three line ends of the standard are read, and a CR LF that is cut in half', () => {
  const frame = { id: '1', event: 'message', data: 'x' }
  expect(parse('id: 1\r\ndata: x\r\n\r\n')).toEqual([frame])
  expect(parse('id: 1\rdata: x\r\r', '\n')).toEqual([frame])
  expect(parse('id: 1\r\ndata: x\r', '\n\r', '\n')).toEqual([frame])
})

test('however the bytes are cut, the frames are the same', () => {
  const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll(/[\r\n]/g, ' '))
  const property = fc.property(
    fc.array(text, { maxLength: 5 }),
    fc.array(fc.nat(400), { maxLength: 6 }),
    (texts, at) => {
      const stream = texts.map((value, index) => `id: ${index}\ndata: .${value}\n\n`).join('')
      const bytes = Buffer.from(stream)
      const cuts = [0, ...at.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
      const parts = cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
      const frames = texts.map((value, index) => ({ id: String(index), event: 'message', data: `.${value}` }))
      expect(parse(...parts)).toEqual(frames)
    },
  )
  fc.assert(property, { numRuns: 300 })
})

test('a frame without end is a fault, not a leak', () => {
  const parser = new SseParser()
  const chunk = Buffer.alloc(frameLengthMax / 4, 'x')
  expect(() => {
    for (let i = 0; i < 6; i++) parser.push(chunk)
  }).toThrow('an event stream frame passed')
})
