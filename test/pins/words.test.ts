import { expect, test } from 'vitest'
import { deliveryStates } from '../../src/domain/delivery.ts'
import { eventTypes } from '../../src/domain/events.ts'
import { jobStates } from '../../src/domain/job.ts'
import { deliveryClasses, formatHeader, messageKinds, orchestrationTypes } from '../../src/domain/message.ts'
import { evidenceSources, statuses, statusReasons } from '../../src/domain/status.ts'
import { lifeStates } from '../../src/domain/terminal.ts'

/** Words that stand in rows, events and answers of released versions: adding is free, renaming or dropping one is not. */
const pins: readonly (readonly [what: string, words: readonly string[], pinned: string])[] = [
  [
    'events',
    eventTypes,
    `session.created session.deleted terminal.created terminal.life_changed terminal.status_changed message.queued
     message.state_changed job.created job.state_changed question.opened question.closed backend.ready backend.lost
     recovery.finished worktree.created worktree.removed worktree.kept worktree.missing notify.failed message.dropped person.typed turn.interrupted
     terminal.held terminal.released loop.stopped`,
  ],
  [
    'states of a delivery',
    deliveryStates,
    'queued leased typing typed confirmed turn_started answered refused unconfirmed expired undeliverable',
  ],
  ['lives of a terminal', lifeStates, 'planned live exited lost deleting deleted'],
  ['states of a job', jobStates, 'created running answered failed timed_out cancelled'],
  ['statuses, which are upstream', statuses, 'unknown idle processing completed waiting_user_answer error'],
  [
    'reasons of a status',
    statusReasons,
    `starting ready turn turn_ended interrupted background retrying hung permission question trust login update
     rate_limited api_error exited lost backend_silent`,
  ],
  ['sources of evidence', evidenceSources, 'api hook transcript title screen process'],
  ['orchestration types, which are upstream', orchestrationTypes, 'send_message handoff assign'],
  ['kinds of a message', messageKinds, 'input send_message handoff assign callback notice digest command'],
  ['classes of a delivery', deliveryClasses, 'idle gap interrupt'],
]

test.each(pins)('the %s keep their names', (_what, words, pinned) => {
  expect(words).toEqual(pinned.split(/\s+/))
})

test('the header that agents and their records show keeps its form', () => {
  const header = formatHeader({ token: '0123456789ab' as never, kind: 'handoff', senderId: 'abcd1234' })
  expect(header).toBe('[cao handoff 0123456789ab from abcd1234]')
})
