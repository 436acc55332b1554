import { expect, test } from 'vitest'
import { type JobState, stepJob } from '../../domain/job.ts'
import { moveRow } from './move.ts'

type Row = { readonly state: JobState; readonly by: string }

/** A row that others move, in the moment between reading and writing, through `others` one after the other. */
function moveAgainst(others: readonly JobState[], step: 'start' | 'answer') {
  const left = [...others]
  let row: Row = { state: 'created', by: 'nobody' }
  const outcome = moveRow<Row, JobState>({
    find: () => row,
    state: (each) => each.state,
    decide: (from) => stepJob(from, step),
    update(_row, from, to) {
      const other = left.shift()
      if (other !== undefined) row = { state: other, by: 'another' }
      if (row.state !== from) return undefined
      row = { state: to, by: 'us' }
      return row
    },
  })
  return { outcome, row }
}

test('who comes second decides again on what the first has left, and may be refused', () => {
  expect(moveAgainst(['running'], 'answer')).toEqual({
    outcome: { kind: 'moved', from: 'running', row: { state: 'answered', by: 'us' } },
    row: { state: 'answered', by: 'us' },
  })
  expect(moveAgainst(['cancelled'], 'answer')).toEqual({
    outcome: { kind: 'illegal', from: 'cancelled' },
    row: { state: 'cancelled', by: 'another' },
  })
})

test('losing without end is a bug that shows, not a loop', () => {
  const endless = () =>
    moveRow<Row, JobState>({
      find: () => ({ state: 'created', by: 'nobody' }),
      state: (row) => row.state,
      decide: (from) => stepJob(from, 'start'),
      update: () => undefined,
    })
  expect(endless).toThrow('in every one of our attempts')
})
