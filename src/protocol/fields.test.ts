import { expect, test } from 'vitest'
import { AppError } from '../domain/errors.ts'
import { parseBody } from './fields.ts'
import { runStepBody, startJobBody, waitJobQuery } from './job.ts'
import { inboxQuery, inputParams, sendMessageParams } from './message.ts'
import { rangeQuery } from './output.ts'
import { answerBody } from './question.ts'
import { createSessionQuery, groupBody, metadataBody } from './terminal.ts'

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION') return error.message
    throw error
  }
  return 'was accepted'
}

test('a creation from a query: lists split at commas, empty texts absent, unknown names ignored', () => {
  const query = { agent_profile: 'developer', allowed_tools: 'fs_read, execute_bash', model: '', colour: 'red' }
  expect(parseBody(createSessionQuery, query, 'the query')).toEqual({
    agent_profile: 'developer',
    allowed_tools: ['fs_read', 'execute_bash'],
    model: undefined,
  })
})

test('a flag in a query is true for true and 1 only', () => {
  const read = (text: string) =>
    parseBody(createSessionQuery, { agent_profile: 'x', defer_init: text }, 'the query').defer_init
  expect([read('true'), read('1'), read('false'), read('0'), read('')]).toEqual([true, true, false, false, false])
})

test('an inbox is listed ten at a time, at most a hundred', () => {
  expect(parseBody(inboxQuery, {}, 'q')).toEqual({ limit: 10 })
  expect(parseBody(inboxQuery, { limit: '100', status: 'pending' }, 'q')).toEqual({ limit: 100, status: 'pending' })
  expect(refusal(() => parseBody(inboxQuery, { limit: '101' }, 'the query'))).toContain('limit')
})

test('a step has ten minutes and ends its worker unless told otherwise', () => {
  expect(parseBody(runStepBody, { agent: 'developer', prompt: 'do it' }, 'q')).toEqual({
    agent: 'developer',
    prompt: 'do it',
    teardown: true,
    timeout: 600,
  })
})

test.each([
  ['agent_profile', () => parseBody(createSessionQuery, {}, 'the request')],
  ['caller_id', () => parseBody(createSessionQuery, { agent_profile: 'x', caller_id: 'ABCDEF01' }, 'the request')],
  ['message', () => parseBody(sendMessageParams, { message: '' }, 'the request')],
  ['sender_id', () => parseBody(sendMessageParams, { message: 'x', sender_id: 'a]\nb' }, 'the request')],
  ['uuid', () => parseBody(sendMessageParams, { message: 'x', uuid: 'one' }, 'the request')],
  ['orchestration_type', () => parseBody(inputParams, { message: 'x', orchestration_type: 'shout' }, 'the request')],
  ['timeout', () => parseBody(runStepBody, { agent: 'a', prompt: 'p', timeout: 0 }, 'the request')],
  ['kind', () => parseBody(startJobBody, { kind: 'step', agent_profile: 'a', message: 'm' }, 'the request')],
  ['wait_s', () => parseBody(waitJobQuery, { wait_s: 'soon' }, 'the query')],
  ['length', () => parseBody(rangeQuery, { length: '1048577' }, 'the query')],
  ['question_id', () => parseBody(answerBody, { answer: '1', question_id: 'seven' }, 'the request')],
  ['answer', () => parseBody(answerBody, { answer: 'x'.repeat(4_001) }, 'the request')],
  ['group', () => parseBody(groupBody, {}, 'the request')],
  ['group', () => parseBody(groupBody, { group: Array.from({ length: 17 }, String) }, 'the request')],
  ['metadata', () => parseBody(metadataBody, { metadata: { a: 'x'.repeat(17_000) } }, 'the request')],
])('a bad value is refused with a sentence that names its field: %s', (field, work) => {
  expect(refusal(work)).toMatch(new RegExp(`is not valid: ${field}`))
})

test('a refusal never repeats the value, which may be a secret', () => {
  const secret = 'hunter2 with spaces'
  expect(refusal(() => parseBody(sendMessageParams, { message: 'x', sender_id: secret }, 'r'))).not.toContain('hunter2')
})
