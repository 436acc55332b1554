import { expect, test } from 'vitest'
import { planReply } from './reply.ts'

const options = [{ label: 'Red' }, { label: 'Dark blue' }]
const one = { questions: [{ question: 'Which?', options }] }
const several = { questions: [{ question: 'Which?', options, multiple: true }] }
const two = {
  questions: [
    { question: 'Which?', options },
    { question: 'Why?', options: [] },
  ],
}
const strict = { questions: [{ question: 'Which?', options, custom: false }] }

test.each([
  [one, '2', [['Dark blue']]],
  [one, 'dark  BLUE', [['Dark blue']]],
  [one, 'Green, please', [['Green, please']]],
  [several, 'red, 2', [['Red', 'Dark blue']]],
  [several, 'red, Green', [['Red', 'Green']]],
  [two, 'Red\nbecause of the sky', [['Red'], ['because of the sky']]],
])('%# an answer is given part by part', (request, answer, answers) => {
  expect(planReply(request, answer)).toEqual({ kind: 'answers', answers })
})

test('a part without an answer, and a word that is not offered where only those are, are refused with what is asked', () => {
  expect([planReply(two, 'Red'), planReply(strict, 'Green')]).toEqual([
    { kind: 'refused', why: 'it asks for 2 answers, one in each line: Which? · Why?' },
    { kind: 'refused', why: '"Green" is none of: Red · Dark blue' },
  ])
})
