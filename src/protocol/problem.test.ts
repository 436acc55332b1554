import { expect, test } from 'vitest'
import { AppError } from '../domain/errors.ts'
import { parseBody } from './fields.ts'
import { runStepBody, startJobBody } from './job.ts'
import { sendMessageParams } from './message.ts'
import { rangeQuery } from './output.ts'
import { createSessionQuery, createTerminalBody, groupBody } from './terminal.ts'

function problems(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION') return error.data['problems']
    throw error
  }
}

const step = (more: object) => () => parseBody(runStepBody, { agent: 'a', prompt: 'p', ...more }, 'the request')
const creation = (more: object) => () => parseBody(createSessionQuery, { agent_profile: 'a', ...more }, 'the query')
const extra = (more: object) => () => parseBody(createTerminalBody, more, 'the request')

test.each([
  [step({ timeout: 'soon' }), 'timeout: must be a number'],
  [step({ timeout: '' }), 'timeout: must be a number'],
  [step({ timeout: 0 }), 'timeout: must be more than 0'],
  [step({ timeout: '604801' }), 'timeout: must be at most 604800'],
  [step({ teardown: 'maybe' }), 'teardown: must be true or false'],
  [step({ agent: '' }), 'agent: must not be empty'],
  [step({ agent: 7 }), 'agent: must be a text'],
  [step({ model: 'x'.repeat(200_000) }), 'model: must be at most 256 characters'],
  [step({ working_directory: `/${'x'.repeat(4_096)}` }), 'working_directory: must be at most 4096 characters'],
  [step({ reuse_terminal_id: 'ABCDEF01' }), 'reuse_terminal_id: must be 8 hexadecimal digits'],
  [() => parseBody(startJobBody, { agent_profile: 'a', message: 'm' }, 'r'), 'kind: is missing'],
  [
    () => parseBody(startJobBody, { kind: 'x', agent_profile: 'a', message: 'm' }, 'r'),
    'kind: must be one of handoff, assign',
  ],
  [() => parseBody(sendMessageParams, { message: 'x', uuid: 'one' }, 'r'), 'uuid: must be a UUID'],
  [() => parseBody(rangeQuery, { offset: '1.5' }, 'r'), 'offset: must be a whole number'],
  [() => parseBody(groupBody, {}, 'r'), 'group: is missing'],
  [() => parseBody(groupBody, { group: 'a' }, 'r'), 'group: must be a list'],
  [
    () => parseBody(groupBody, { group: Array.from({ length: 17 }, String) }, 'r'),
    'group: must be at most 16 elements',
  ],
  [creation({ allowed_tools: 'x'.repeat(300) }), 'allowed_tools.0: must be at most 256 characters'],
  [extra({ env_vars: { 'a b': '1' } }), 'env_vars.a b: must be names of variables'],
  [extra({ env_vars: 'A=1' }), 'env_vars: must be an object'],
  [extra({ metadata: [] }), 'metadata: must be an object'],
])('a bad value is told in our own words: %#', (work, problem) => {
  expect(problems(work)).toEqual([problem])
})

test('numbers and flags may come as texts, and null or nothing stands for what is not given', () => {
  expect(step({ timeout: '1.5', teardown: '0', model: '', provider: null })()).toEqual({
    agent: 'a',
    prompt: 'p',
    timeout: 1.5,
    teardown: false,
  })
})
