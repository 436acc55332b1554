import { describe, expect, test } from 'vitest'
import type { EventBody } from '../protocol/event.ts'
import { Narrator } from './narrator.ts'
import { TeamRecord } from './team-record.ts'
import { createTeamScript } from './team-script.ts'

const script = createTeamScript()
const answer = script.parts.join('\n')

/** Events as the wire brings them; only what the demo looks at. */
class Story {
  readonly events: EventBody[] = []

  #add(fields: Readonly<Record<string, unknown>>): void {
    this.events.push({ seq: this.events.length + 1, at: '2026-01-01T00:00:00.000Z', ...fields } as EventBody)
  }

  terminal(id: string, profile: string): void {
    this.#add({
      type: 'terminal.created',
      terminal_id: id,
      session_name: 'cao-x',
      provider: 'scripted',
      profile_name: profile,
    })
    this.#add({ type: 'terminal.life_changed', terminal_id: id, from: 'planned', to: 'live' })
  }

  job(id: string, kind: string): void {
    this.#add({ type: 'job.created', job_id: id, kind, caller_id: 'aaaaaaaa', profile_name: 'developer' })
    this.jobMoves(id, kind, 'running')
  }

  jobMoves(id: string, kind: string, to: string, detail?: string): void {
    this.#add({ type: 'job.state_changed', job_id: id, kind, worker_id: 'bbbbbbbb', from: 'created', to, detail })
  }

  message(id: number, kind: string, states: readonly string[] = ['typed', 'confirmed', 'answered']): void {
    this.#add({ type: 'message.queued', message_id: id, kind, sender_id: 'bbbbbbbb', receiver_id: 'aaaaaaaa' })
    for (const to of states) {
      const detail = to === 'confirmed' ? 'hook: the agent recorded the text' : undefined
      this.#add({
        type: 'message.state_changed',
        message_id: id,
        kind,
        sender_id: 'bbbbbbbb',
        receiver_id: 'aaaaaaaa',
        from: 'queued',
        to,
        detail,
      })
    }
  }

  get record(): TeamRecord {
    const record = new TeamRecord(script)
    for (const event of this.events) record.note(event)
    return record
  }
}

function goodStory(): Story {
  const story = new Story()
  for (const id of ['job-1', 'job-2']) story.job(id, 'assign')
  story.job('job-3', 'handoff')
  story.jobMoves('job-3', 'handoff', 'answered')
  for (const id of ['job-1', 'job-2']) story.jobMoves(id, 'assign', 'answered')
  for (const id of [5, 6]) story.message(id, 'callback')
  return story
}

describe('judging the demo', () => {
  test('a demo in which everything is as it should be has no problems', () => {
    const { record } = goodStory()
    expect({ isDone: record.isDone, fatal: record.fatal, problems: record.problems(answer) }).toEqual({
      isDone: true,
      fatal: undefined,
      problems: [],
    })
  })

  test('an answer that lacks a part is a problem', () => {
    expect(goodStory().record.problems('200 lines together')).toEqual([
      'the answer lacks: Part A has 120 lines. | Part B has 80 lines. | Yes, blank lines count.',
    ])
  })

  test('workers that ran one after the other are a problem', () => {
    const story = new Story()
    for (const id of ['job-1', 'job-2']) {
      story.job(id, 'assign')
      story.jobMoves(id, 'assign', 'answered')
    }
    expect(story.record.problems(answer)).toContain('the assigned tasks did not run side by side')
  })

  test('a message that was typed twice, or arrived without proof, is a problem', () => {
    const story = goodStory()
    story.message(7, 'handoff', ['typed', 'typed', 'confirmed', 'answered'])
    story.message(8, 'handoff', ['typed', 'answered'])
    story.message(9, 'handoff', ['typed', 'confirmed'])
    expect(story.record.problems(answer)).toEqual([
      'message 7 was typed 2 times',
      'message 8 arrived without proof',
      'message 9 is confirmed at the end',
    ])
  })

  test('a failed job and a message that ended badly end the waiting', () => {
    const failed = goodStory()
    failed.jobMoves('job-1', 'assign', 'failed', 'the program ended')
    expect(failed.record.fatal).toBe('job-1 is failed: the program ended')
    const lost = goodStory()
    lost.message(9, 'handoff', ['typed', 'unconfirmed'])
    expect(lost.record.fatal).toBe('message 9 is unconfirmed: no reason given')
  })
})

test('the narrator tells who was started where, what was typed, by what proof it arrived, and who answered', () => {
  const story = new Story()
  story.terminal('aaaaaaaa', 'code_supervisor')
  story.terminal('bbbbbbbb', 'developer\u001b[2J')
  story.job('job-1', 'assign')
  story.message(5, 'callback')
  story.jobMoves('job-1', 'assign', 'answered')
  const narrator = new Narrator()
  const told = story.events.flatMap((event) => {
    if (event.type === 'terminal.life_changed') narrator.setPane(event.terminal_id, '%1')
    return narrator.tell(event) ?? []
  })
  expect(told).toEqual([
    'code_supervisor aaaaaaaa (scripted) was started in pane %1',
    'developer bbbbbbbb (scripted) was started in pane %1',
    'code_supervisor aaaaaaaa assigns a task to a developer',
    'the answer of developer bbbbbbbb (message 5) was typed into code_supervisor aaaaaaaa',
    'the answer of developer bbbbbbbb (message 5) has arrived; proof: hook: the agent recorded the text',
    'developer bbbbbbbb has answered',
  ])
})
