import { describe, expect, test } from 'vitest'
import { AppError, type ErrorCode, errorTable } from '../domain/errors.ts'
import { fromErrorBody, toErrorBody } from './error-body.ts'

describe('an error on the wire', () => {
  test('has the sentence, the code and the facts', () => {
    const error = new AppError('NOT_FOUND', 'there is no terminal 12ab34cd', { data: { id: '12ab34cd' } })
    expect(toErrorBody(error)).toEqual({
      detail: 'there is no terminal 12ab34cd',
      code: 'NOT_FOUND',
      data: { id: '12ab34cd' },
    })
  })

  test('has no data when there are no facts', () => {
    expect(toErrorBody(new AppError('BLOCKED', 'it waits'))).toEqual({ detail: 'it waits', code: 'BLOCKED' })
  })

  test('comes out of the client as the same error, for every code', () => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      const sent = new AppError(code, `sentence of ${code}`, { data: { n: 1 } })
      const wire = JSON.parse(JSON.stringify(toErrorBody(sent))) as unknown
      const got = fromErrorBody(errorTable[code].httpStatus, wire)
      expect([got.code, got.message, got.data]).toEqual([code, `sentence of ${code}`, { n: 1 }])
    }
  })

  test('of a failed step gives its message, and its kind as a fact', () => {
    const got = fromErrorBody(504, { detail: { message: 'too slow', kind: 'timeout', terminal_id: 'aaaaaaaa' } })
    expect([got.code, got.message, got.data['kind']]).toEqual(['BACKEND_TIMEOUT', 'too slow', 'timeout'])
  })

  test.each([
    [404, { detail: 'gone' }, 'NOT_FOUND', 'gone'],
    [400, undefined, 'BAD_REQUEST', 'the server answered 400'],
    [502, '<html>', 'LAUNCH_FAILED', 'the server answered 502'],
    [418, { detail: [{ msg: 'x' }] }, 'INTERNAL', '[{"msg":"x"}]'],
    [409, { detail: 'no', code: 'MADE_UP' }, 'CONFLICT', 'no'],
  ] as const)(
    'of a server that does not speak our codes (%d) still becomes one of ours',
    (status, body, code, text) => {
      const got = fromErrorBody(status, body)
      expect([got.code, got.message]).toEqual([code, text])
    },
  )
})
