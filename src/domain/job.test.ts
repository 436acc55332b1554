import { describe, expect, test } from 'vitest'
import { isCorrectable, isJobOpen, jobEndings, jobStates, jobSteps, stepJob } from './job.ts'
import { describeTable } from './table.case.ts'

describe('a job', () => {
  test('is corrected by a late answer only where CAO had not heard an end', () => {
    const ends = jobStates.flatMap((state) =>
      jobEndings.map((ending) => ({ state, result: { answer: undefined, failure: 'x', source: undefined, ending } })),
    )
    const found = new Set(ends.filter(isCorrectable).map(({ state, result }) => `${state} ${result.ending}`))
    const late = ['failed unconfirmed', 'failed hung', ...jobEndings.map((ending) => `timed_out ${ending}`)]
    expect([...found].toSorted()).toEqual(late.toSorted())
  })

  describeTable({
    states: jobStates,
    steps: jobSteps,
    apply: stepJob,
    legal: [
      'created start running',
      'created answer answered',
      'created fail failed',
      'created time_out timed_out',
      'created cancel cancelled',
      'running answer answered',
      'running fail failed',
      'running time_out timed_out',
      'running cancel cancelled',
      'failed correct answered',
      'timed_out correct answered',
    ],
  })

  test('is open until its first end, and every open state can end in every way', () => {
    expect(jobStates.filter((state) => isJobOpen({ state }))).toEqual(['created', 'running'])
    for (const step of ['answer', 'fail', 'time_out', 'cancel'] as const) {
      for (const state of jobStates) expect(stepJob(state, step).ok).toBe(isJobOpen({ state }))
    }
  })
})
