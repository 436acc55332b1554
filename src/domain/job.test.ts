import { describe, expect, test } from 'vitest'
import { isJobOpen, jobStates, jobSteps, stepJob } from './job.ts'
import { describeTable } from './table.case.ts'

describe('a job', () => {
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
    ],
  })

  test('is open until its first end, and every open state can end in every way', () => {
    expect(jobStates.filter((state) => isJobOpen({ state }))).toEqual(['created', 'running'])
    for (const step of ['answer', 'fail', 'time_out', 'cancel'] as const) {
      for (const state of jobStates) expect(stepJob(state, step).ok).toBe(isJobOpen({ state }))
    }
  })
})
