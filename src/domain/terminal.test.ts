import { describe, expect, test } from 'vitest'
import { describeTable } from './table.case.ts'
import { lifeStates, lifeSteps, stepLife } from './terminal.ts'

describe('the life of a terminal', () => {
  describeTable({
    states: lifeStates,
    steps: lifeSteps,
    apply: stepLife,
    legal: [
      'planned open live',
      'planned lose lost',
      'planned delete deleting',
      'live exit exited',
      'live lose lost',
      'live delete deleting',
      'exited relaunch planned',
      'exited delete deleting',
      'lost relaunch planned',
      'lost delete deleting',
      'deleting delete deleting',
      'deleting finish deleted',
    ],
  })

  test('from every state but the last it can be brought to an end', () => {
    for (const state of lifeStates.filter((each) => each !== 'deleted')) {
      expect(stepLife(state, 'delete')).toEqual({ ok: true, value: 'deleting' })
    }
  })
})
