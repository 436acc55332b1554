import { describe, expect, test } from 'vitest'
import { AppError, errorTable, isErrorCode } from './errors.ts'

describe('an AppError', () => {
  test('carries code, sentence, facts and cause, and knows its row', () => {
    const cause = new Error('below')
    const error = new AppError('QUEUE_FULL', 'Too many wait', { data: { receiverId: 'a' }, cause })
    expect(error).toMatchObject({ name: 'AppError', code: 'QUEUE_FULL', message: 'Too many wait', cause })
    expect(error.data).toEqual({ receiverId: 'a' })
    expect(error.row).toEqual({ httpStatus: 429, exitCode: 75, retryable: true })
  })

  test('without more has empty facts and no cause', () => {
    const error = new AppError('NOT_FOUND', 'x')
    expect([error.data, Object.hasOwn(error, 'cause')]).toEqual([{}, false])
  })

  test('has only codes of the table, and nothing inherited passes for one', () => {
    expect([isErrorCode('NOT_FOUND'), isErrorCode('toString'), isErrorCode('not_found')]).toEqual([true, false, false])
  })

  test('no fault looks like success, over HTTP or to a shell', () => {
    for (const { httpStatus, exitCode } of Object.values(errorTable)) {
      expect(httpStatus).toBeGreaterThanOrEqual(400)
      expect(exitCode).toBeGreaterThan(0)
      expect(exitCode).toBeLessThan(126)
    }
  })
})
