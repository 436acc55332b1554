import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Announces,
  type Claim,
  type Evidence,
  type EvidenceSource,
  evidenceSources,
  type Status,
  type StatusReason,
  statusReasons,
  type WaitingReason,
} from './status.ts'
import {
  firstPaintMs,
  initialStatus,
  reduceStatus,
  repaintMs,
  type StatusState,
  sameEndMs,
  trailMax,
} from './status-reducer.ts'

/** A provider whose hooks tell of all there is to tell. */
const hooksTell: Announces = { hook: ['turn_started', 'turn_ended', 'waiting', 'question_closed'] }
const hooksEndOnly: Announces = { hook: ['turn_ended'] }
const nobodyTells: Announces = {}

const question = (text = 'May I?') => ({ text, options: ['yes', 'no'], vendorId: undefined })
const claims = {
  quiet: { kind: 'ready', isStable: false },
  ready: { kind: 'ready', isStable: true },
  busy: { kind: 'busy', reason: 'turn' },
  background: { kind: 'busy', reason: 'background' },
  retrying: { kind: 'busy', reason: 'retrying' },
  hung: { kind: 'busy', reason: 'hung' },
  start: { kind: 'turn_started' },
  answered: { kind: 'turn_ended', outcome: 'answered', answer: 'forty-two' },
  interrupted: { kind: 'turn_ended', outcome: 'interrupted', answer: undefined },
  turnFailed: { kind: 'turn_ended', outcome: 'failed', answer: undefined },
  permission: { kind: 'waiting', reason: 'permission', question: question() },
  question: { kind: 'waiting', reason: 'question', question: question('Which colour?') },
  trust: { kind: 'waiting', reason: 'trust', question: question('Do you trust this folder?') },
  login: { kind: 'waiting', reason: 'login', question: question('Sign in?') },
  update: { kind: 'waiting', reason: 'update', question: question('Update now?') },
  closed: { kind: 'question_closed' },
  limited: { kind: 'failed', reason: 'rate_limited', detail: 'until 5 pm' },
  apiError: { kind: 'failed', reason: 'api_error', detail: 'API error 500' },
  exit0: { kind: 'exited', code: 0, signal: undefined },
  exit1: { kind: 'exited', code: 1, signal: undefined },
  killed: { kind: 'exited', code: undefined, signal: 'SIGKILL' },
  lost: { kind: 'lost', why: 'tmux ended' },
  silent: { kind: 'backend_silent' },
  launched: { kind: 'launched' },
} as const satisfies Record<string, Claim>
type ClaimName = keyof typeof claims

/** A line of an example: milliseconds, source, claim. */
type Line = readonly [atMs: number, source: EvidenceSource, claim: ClaimName]

const toEvidence = ([atMs, source, claim]: Line, order = 0): Evidence => ({
  source,
  claim: claims[claim],
  atMs,
  raw: `${claim} ${order}`,
})

function run(lines: readonly Line[], announces: Announces, from = initialStatus(0)): StatusState {
  return lines.reduce((state, line, order) => reduceStatus(state, toEvidence(line, order), announces), from)
}

type Example = {
  readonly name: string
  readonly announces: Announces
  readonly lines: readonly Line[]
  /** `status (reason)` and how many turns have ended. */
  readonly ends: readonly [said: string, turnsEnded: number]
}

function checkExamples(examples: readonly Example[]): void {
  test.each(examples)('$name', ({ lines, announces, ends }) => {
    const state = run(lines, announces)
    expect([`${state.status} (${state.reason})`, state.turnsEnded]).toEqual(ends)
  })
}

const launch: Line = [10, 'process', 'launched']

describe('the picture of a question that was just answered', () => {
  const asked: readonly Line[] = [launch, [100, 'hook', 'start'], [200, 'hook', 'permission'], [900, 'hook', 'closed']]
  checkExamples([
    {
      name: 'asks nothing, where a better source tells of questions',
      announces: hooksTell,
      lines: [...asked, [950, 'screen', 'permission']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'is a new question when it still stands after the repaint',
      announces: hooksTell,
      lines: [...asked, [900 + repaintMs, 'screen', 'permission']],
      ends: ['waiting_user_answer (permission)', 0],
    },
    {
      name: 'is believed at once where nobody else tells of questions',
      announces: hooksEndOnly,
      lines: [...asked, [950, 'screen', 'permission']],
      ends: ['waiting_user_answer (permission)', 0],
    },
    {
      name: 'holds back no question of the better source itself',
      announces: hooksTell,
      lines: [...asked, [950, 'hook', 'permission']],
      ends: ['waiting_user_answer (permission)', 0],
    },
  ])
})

test('the words of a better source stand: the screen shows the same question in others', () => {
  const asked = (source: EvidenceSource, atMs: number, text: string): Evidence => ({
    source,
    claim: { kind: 'waiting', reason: 'permission', question: question(text) },
    atMs,
    raw: text,
  })
  const announces: Announces = { api: ['turn_started', 'turn_ended', 'waiting', 'question_closed'] }
  const state = [asked('api', 20, 'run `ls`?'), asked('screen', 30, 'Permission required: ls')].reduce(
    (before, evidence) => reduceStatus(before, evidence, announces),
    run([launch], announces),
  )
  expect(state).toMatchObject({ status: 'waiting_user_answer', detail: 'run `ls`?' })
  expect(reduceStatus(state, asked('api', 40, 'run `rm`?'), announces).detail).toBe('run `rm`?')
})

describe('a question that the screen showed before an older hook was read', () => {
  checkExamples([
    {
      name: 'stays open: the turn began before it',
      announces: hooksTell,
      lines: [launch, [50, 'screen', 'permission'], [40, 'hook', 'start'], [45, 'hook', 'permission']],
      ends: ['waiting_user_answer (permission)', 0],
    },
    {
      name: 'is over when the better source says so',
      announces: hooksTell,
      lines: [
        launch,
        [50, 'screen', 'permission'],
        [40, 'hook', 'start'],
        [45, 'hook', 'permission'],
        [60, 'hook', 'closed'],
      ],
      ends: ['processing (turn)', 0],
    },
  ])
})

describe('every reason', () => {
  const begun: readonly Line[] = [launch, [20, 'hook', 'start']]
  /** How it comes about, and the outward word that it has; by the table of DESIGN's statuses, in ARCHITECTURE.md. */
  const ways: Readonly<Record<StatusReason, readonly [status: Status, lines: readonly Line[]]>> = {
    starting: ['unknown', [launch]],
    ready: ['idle', [launch, [20, 'screen', 'ready']]],
    turn: ['processing', begun],
    turn_ended: ['completed', [...begun, [30, 'hook', 'answered']]],
    interrupted: ['idle', [...begun, [30, 'transcript', 'interrupted']]],
    background: ['processing', [...begun, [30, 'hook', 'answered'], [30 + repaintMs, 'screen', 'background']]],
    retrying: ['processing', [...begun, [30, 'screen', 'retrying']]],
    hung: ['processing', [...begun, [90_000, 'process', 'hung']]],
    permission: ['waiting_user_answer', [...begun, [30, 'screen', 'permission']]],
    question: ['waiting_user_answer', [...begun, [30, 'hook', 'question']]],
    trust: ['waiting_user_answer', [launch, [20, 'screen', 'trust']]],
    login: ['waiting_user_answer', [launch, [20, 'screen', 'login']]],
    update: ['waiting_user_answer', [launch, [20, 'screen', 'update']]],
    rate_limited: ['error', [...begun, [30, 'hook', 'limited']]],
    api_error: ['error', [...begun, [30, 'hook', 'apiError']]],
    exited: ['error', [...begun, [30, 'process', 'exit1']]],
    lost: ['error', [...begun, [30, 'process', 'lost']]],
    backend_silent: ['unknown', [...begun, [30, 'process', 'silent']]],
  }

  test.each(statusReasons)('%s comes with its status, its because and its trace', (reason) => {
    const [status, lines] = ways[reason]
    const state = run(lines, hooksTell)
    expect([state.status, state.reason]).toEqual([status, reason])
    expect(state.because?.raw).toBe(`${lines.at(-1)?.[2]} ${lines.length - 1}`)
    expect(state.trail.at(-1)).toMatchObject({ effect: 'took', why: `${status} (${reason})` })
  })

  test('a stream without a cue, on a screen that no rule reads, stays the turn that it is', () => {
    expect(run([...begun, [90_000, 'hook', 'start']], hooksTell).reason).toBe('turn')
  })

  test('hung work is work again when it shows', () => {
    expect(run([...begun, [90_000, 'process', 'hung'], [91_000, 'screen', 'busy']], hooksTell).reason).toBe('turn')
  })
})

/** What one source says of a turn that another has told of. By whether the better one announces ends. */
describe('contradictions', () => {
  const holds = 'processing (turn)'
  const table: readonly (readonly [
    begun: EvidenceSource,
    says: ClaimName,
    by: EvidenceSource,
    announced: string,
    silent: string,
  ])[] = [
    ['api', 'ready', 'screen', holds, 'completed (turn_ended)'],
    ['hook', 'ready', 'screen', holds, 'completed (turn_ended)'],
    ['transcript', 'ready', 'screen', holds, 'completed (turn_ended)'],
    ['hook', 'quiet', 'screen', holds, holds],
    ['hook', 'apiError', 'screen', holds, 'error (api_error)'],
    ['hook', 'limited', 'title', holds, 'error (rate_limited)'],
    ['hook', 'permission', 'screen', 'waiting_user_answer (permission)', 'waiting_user_answer (permission)'],
    ['hook', 'answered', 'transcript', 'completed (turn_ended)', 'completed (turn_ended)'],
    ['transcript', 'interrupted', 'hook', 'idle (interrupted)', 'idle (interrupted)'],
    ['hook', 'limited', 'api', 'error (rate_limited)', 'error (rate_limited)'],
    ['hook', 'exit1', 'process', 'error (exited)', 'error (exited)'],
    ['hook', 'lost', 'process', 'error (lost)', 'error (lost)'],
  ]

  test.each(table)('begun by %s, "%s" by %s', (...row) => {
    const [begun, says, by, announced, silent] = row
    const lines: readonly Line[] = [launch, [20, begun, 'start'], [3_000, by, says]]
    const said = (announces: Announces) => {
      const { status, reason } = run(lines, announces)
      return `${status} (${reason})`
    }
    expect([said({ [begun]: ['turn_started', 'turn_ended'] }), said(nobodyTells)]).toEqual([announced, silent])
  })
})

describe('at the start', () => {
  checkExamples([
    { name: 'nothing is known', announces: hooksTell, lines: [], ends: ['unknown (starting)', 0] },
    {
      name: 'the first quiet screen means ready',
      announces: hooksTell,
      lines: [launch, [20, 'screen', 'quiet']],
      ends: ['idle (ready)', 0],
    },
    {
      name: 'a trust dialog waits for an answer',
      announces: hooksTell,
      lines: [launch, [20, 'screen', 'trust']],
      ends: ['waiting_user_answer (trust)', 0],
    },
    {
      name: 'a start-up dialog that is gone was no turn',
      announces: hooksTell,
      lines: [launch, [20, 'screen', 'trust'], [30, 'screen', 'quiet'], [40, 'screen', 'ready']],
      ends: ['idle (ready)', 0],
    },
  ])
})

describe('a turn that hooks tell of', () => {
  const begun: readonly Line[] = [launch, [20, 'screen', 'ready'], [30, 'hook', 'start']]
  checkExamples([
    { name: 'runs from its start', announces: hooksTell, lines: begun, ends: ['processing (turn)', 0] },
    {
      name: 'is not ended by a quiet screen, however stable',
      announces: hooksTell,
      lines: [...begun, [40, 'screen', 'quiet'], [50, 'screen', 'ready'], [90_000, 'screen', 'ready']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'is ended by its end, and a quiet screen after it changes nothing',
      announces: hooksTell,
      lines: [...begun, [50, 'hook', 'answered'], [60, 'screen', 'ready']],
      ends: ['completed (turn_ended)', 1],
    },
    {
      name: 'is idle again after an interruption',
      announces: hooksTell,
      lines: [...begun, [50, 'hook', 'interrupted'], [60, 'screen', 'ready']],
      ends: ['idle (interrupted)', 1],
    },
    {
      name: 'is an error when it failed, until the next turn',
      announces: hooksTell,
      lines: [...begun, [50, 'hook', 'turnFailed'], [60, 'screen', 'ready']],
      ends: ['error (api_error)', 1],
    },
    {
      name: 'keeps the better known error when its end tells of a failure, too',
      announces: hooksTell,
      lines: [...begun, [50, 'hook', 'limited'], [60, 'hook', 'turnFailed']],
      ends: ['error (rate_limited)', 1],
    },
    {
      name: 'after an error runs like any other',
      announces: hooksTell,
      lines: [...begun, [50, 'hook', 'limited'], [60, 'hook', 'start']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'shows a retry as processing',
      announces: hooksTell,
      lines: [...begun, [40, 'screen', 'retrying']],
      ends: ['processing (retrying)', 0],
    },
    {
      name: 'is not begun again by the old picture of it',
      announces: hooksTell,
      lines: [...begun, [50, 'hook', 'answered'], [50 + repaintMs - 1, 'screen', 'busy']],
      ends: ['completed (turn_ended)', 1],
    },
    {
      name: 'may be followed by background work, once the screen has had time to be painted',
      announces: hooksTell,
      lines: [...begun, [50, 'hook', 'answered'], [50 + repaintMs, 'screen', 'background']],
      ends: ['processing (background)', 1],
    },
    {
      name: 'that only a screen sees, while hooks know of none, is ended by a stable screen',
      announces: hooksTell,
      lines: [...begun, [50, 'hook', 'answered'], [2_000, 'screen', 'busy'], [2_500, 'screen', 'ready']],
      ends: ['completed (turn_ended)', 2],
    },
    {
      name: 'is held open by hooks that tell of ends but not of starts',
      announces: hooksEndOnly,
      lines: [launch, [20, 'hook', 'answered'], [2_000, 'screen', 'busy'], [2_500, 'screen', 'ready']],
      ends: ['processing (turn)', 1],
    },
    {
      name: 'does not end by the picture before it',
      announces: hooksTell,
      lines: [...begun, [25, 'screen', 'ready']],
      ends: ['processing (turn)', 0],
    },
  ])

  test('two sources that tell of one end count one turn', () => {
    const lines: readonly Line[] = [...begun, [50, 'hook', 'answered'], [70, 'transcript', 'answered']]
    expect(run(lines, hooksTell)).toMatchObject({ status: 'completed', turnsEnded: 1 })
    const next: readonly Line[] = [
      [100, 'hook', 'start'],
      [110, 'transcript', 'answered'],
      [120, 'hook', 'answered'],
    ]
    expect(run([...lines, ...next], hooksTell).turnsEnded).toBe(2)
  })

  test('one source that tells of two ends counts two turns, even when no start was seen', () => {
    const lines: readonly Line[] = [...begun, [50, 'hook', 'answered'], [70, 'hook', 'answered']]
    expect(run(lines, hooksTell).turnsEnded).toBe(2)
  })

  test('another source that tells of an end much later tells of another turn', () => {
    const lines: readonly Line[] = [...begun, [50, 'hook', 'answered'], [50 + sameEndMs, 'transcript', 'answered']]
    expect(run(lines, hooksTell).turnsEnded).toBe(2)
  })

  test('a better source corrects how the turn ended, without another turn', () => {
    const lines: readonly Line[] = [...begun, [50, 'transcript', 'answered'], [60, 'hook', 'interrupted']]
    const state = run(lines, nobodyTells)
    expect([state.status, state.reason, state.turnsEnded]).toEqual(['idle', 'interrupted', 1])
  })
})

describe('a turn that only the screen shows', () => {
  const begun: readonly Line[] = [launch, [20, 'screen', 'ready'], [30, 'screen', 'busy']]
  checkExamples([
    {
      name: 'is not ended by one quiet screen',
      announces: nobodyTells,
      lines: [...begun, [40, 'screen', 'quiet']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'is ended by a stable one, and the next as well',
      announces: nobodyTells,
      lines: [...begun, [40, 'screen', 'ready'], [50, 'screen', 'busy'], [60, 'screen', 'ready']],
      ends: ['completed (turn_ended)', 2],
    },
    {
      name: 'is held open by a source that told of it before the better one was read',
      announces: { hook: ['turn_started'], transcript: ['turn_started', 'turn_ended'] },
      lines: [
        launch,
        [20, 'hook', 'start'],
        [25, 'transcript', 'busy'],
        [30, 'hook', 'answered'],
        [45, 'transcript', 'busy'],
        [40, 'hook', 'start'],
        [50, 'screen', 'busy'],
        [60, 'screen', 'ready'],
      ],
      ends: ['processing (turn)', 1],
    },
    {
      name: 'is ended by a screen that goes on to be at rest, though it never showed the turn',
      announces: { hook: ['turn_started'] },
      lines: [launch, [20, 'hook', 'start'], [30, 'screen', 'ready'], [20 + firstPaintMs, 'screen', 'ready']],
      ends: ['completed (turn_ended)', 1],
    },
    {
      name: 'is not ended by the picture of before it',
      announces: { hook: ['turn_started'] },
      lines: [launch, [20, 'hook', 'start'], [30, 'screen', 'ready']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'is not held open by a source that can tell of ends but has not spoken in this life',
      announces: hooksTell,
      lines: [...begun, [40, 'screen', 'ready']],
      ends: ['completed (turn_ended)', 1],
    },
  ])
})

describe('a question', () => {
  const asked: readonly Line[] = [launch, [20, 'hook', 'start'], [30, 'hook', 'permission']]
  checkExamples([
    { name: 'waits', announces: hooksTell, lines: asked, ends: ['waiting_user_answer (permission)', 0] },
    {
      name: 'stays open while its source has not closed it, whatever the screen looks like',
      announces: hooksTell,
      lines: [...asked, [40, 'screen', 'busy'], [50, 'screen', 'quiet'], [60, 'screen', 'ready']],
      ends: ['waiting_user_answer (permission)', 0],
    },
    {
      name: 'that is closed lets the turn go on',
      announces: hooksTell,
      lines: [...asked, [40, 'hook', 'closed']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'that only the screen shows is over when the screen shows work',
      announces: hooksTell,
      lines: [launch, [20, 'hook', 'start'], [30, 'screen', 'permission'], [40, 'screen', 'busy']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'that is gone from a quiet screen is over when a better source says so of its turn, and then once',
      announces: { hook: ['turn_started', 'turn_ended'] },
      lines: [launch, [20, 'hook', 'start'], [30, 'screen', 'permission'], [40, 'screen', 'ready']],
      ends: ['waiting_user_answer (permission)', 0],
    },
    {
      name: 'closed twice is closed',
      announces: hooksTell,
      lines: [...asked, [40, 'hook', 'closed'], [50, 'hook', 'closed']],
      ends: ['processing (turn)', 0],
    },
  ])

  test('carries its text as detail', () => {
    expect(run(asked, hooksTell).detail).toBe('May I?')
  })

  test('another text is another question, the same text is not', () => {
    const evidence = (text: string, atMs: number): Evidence => ({
      source: 'screen',
      claim: { kind: 'waiting', reason: 'permission', question: question(text) },
      atMs,
      raw: 'rule',
    })
    const first = reduceStatus(initialStatus(0), evidence('one', 10), nobodyTells)
    expect(reduceStatus(first, evidence('one', 20), nobodyTells).because).toBe(first.because)
    expect(reduceStatus(first, evidence('two', 20), nobodyTells).detail).toBe('two')
  })
})

describe('death', () => {
  const rested: readonly Line[] = [launch, [20, 'hook', 'start'], [30, 'hook', 'answered']]
  checkExamples([
    {
      name: 'with code 0 at rest is completed',
      announces: hooksTell,
      lines: [...rested, [40, 'process', 'exit0']],
      ends: ['completed (exited)', 1],
    },
    {
      name: 'with code 1 is an error',
      announces: hooksTell,
      lines: [...rested, [40, 'process', 'exit1']],
      ends: ['error (exited)', 1],
    },
    {
      name: 'with code 0 in a turn is an error',
      announces: hooksTell,
      lines: [launch, [20, 'hook', 'start'], [40, 'process', 'exit0']],
      ends: ['error (exited)', 0],
    },
    {
      name: 'by a signal is an error',
      announces: hooksTell,
      lines: [...rested, [40, 'process', 'killed']],
      ends: ['error (exited)', 1],
    },
    {
      name: 'with its backend is an error',
      announces: hooksTell,
      lines: [...rested, [40, 'process', 'lost']],
      ends: ['error (lost)', 1],
    },
    {
      name: 'is believed when it looks older than the last screen',
      announces: hooksTell,
      lines: [...rested, [50, 'screen', 'busy'], [2_000, 'screen', 'busy'], [40, 'process', 'killed']],
      ends: ['error (exited)', 1],
    },
    {
      name: 'at rest with code 0 is clean also while the backend was silent',
      announces: hooksTell,
      lines: [...rested, [40, 'process', 'silent'], [50, 'process', 'exit0']],
      ends: ['completed (exited)', 1],
    },
    {
      name: 'is over after a launch, of which what the former life said is no part',
      announces: hooksTell,
      lines: [...rested, [40, 'process', 'exit1'], [5_000, 'process', 'launched'], [60, 'hook', 'start']],
      ends: ['unknown (starting)', 0],
    },
  ])

  test('says how', () => {
    expect(run([...rested, [40, 'process', 'killed']], hooksTell).detail).toBe("the agent's program ended (SIGKILL)")
    expect(run([...rested, [40, 'process', 'lost']], hooksTell).detail).toBe('tmux ended')
  })
})

describe('a backend that does not answer', () => {
  const begun: readonly Line[] = [launch, [20, 'hook', 'start']]
  checkExamples([
    {
      name: 'is unknown',
      announces: hooksTell,
      lines: [...begun, [30, 'process', 'silent']],
      ends: ['unknown (backend_silent)', 0],
    },
    {
      name: 'hides a running turn without ending it',
      announces: hooksTell,
      lines: [...begun, [30, 'process', 'silent'], [40, 'screen', 'quiet'], [50, 'screen', 'ready']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'twice is the same silence',
      announces: hooksTell,
      lines: [...begun, [30, 'process', 'silent'], [35, 'process', 'silent'], [40, 'screen', 'busy']],
      ends: ['processing (turn)', 0],
    },
    {
      name: 'that answers again gives way to what it shows',
      announces: hooksTell,
      lines: [...begun, [30, 'process', 'silent'], [40, 'hook', 'answered']],
      ends: ['completed (turn_ended)', 1],
    },
    {
      name: 'stays unknown on a picture from before',
      announces: hooksTell,
      lines: [...begun, [30, 'process', 'silent'], [15, 'screen', 'ready']],
      ends: ['unknown (backend_silent)', 0],
    },
  ])
})

// Properties

const waitingReasons: readonly WaitingReason[] = ['permission', 'question', 'trust', 'login', 'update']
const anyClaim: fc.Arbitrary<Claim> = fc.oneof(
  fc.constantFrom<Claim>(...Object.values(claims)),
  fc.record({
    kind: fc.constant('waiting' as const),
    reason: fc.constantFrom(...waitingReasons),
    question: fc.constantFrom(question('one'), question('two')),
  }),
)
const anyEvidence: fc.Arbitrary<Evidence> = fc.record({
  source: fc.constantFrom(...evidenceSources),
  claim: anyClaim,
  atMs: fc.integer({ min: 0, max: 20_000 }),
  raw: fc.constantFrom('rule one', 'rule two'),
})
const anyHistory = fc.array(anyEvidence, { maxLength: 80 })
const inOrder = anyHistory.map((history) => history.toSorted((x, y) => x.atMs - y.atMs))
const announceable = ['turn_started', 'turn_ended', 'waiting', 'question_closed'] as const
const anyAnnounces: fc.Arbitrary<Announces> = fc.record(
  {
    api: fc.subarray([...announceable]),
    hook: fc.subarray([...announceable]),
    transcript: fc.subarray([...announceable]),
  },
  { requiredKeys: [] },
)

const reduceAll = (history: readonly Evidence[], announces: Announces, from = initialStatus(0)): StatusState =>
  history.reduce((state, evidence) => reduceStatus(state, evidence, announces), from)
const pickSaid = ({ status, reason, detail, turnsEnded }: StatusState) => ({ status, reason, detail, turnsEnded })

describe('whatever is told', () => {
  test('death is final until a launch', () => {
    const mortal = anyHistory.map((history) => history.filter(({ claim }) => claim.kind !== 'launched'))
    fc.assert(
      fc.property(anyHistory, fc.constantFrom('exit0', 'killed', 'lost'), mortal, anyAnnounces, (...args) => {
        const [before, end, after, announces] = args
        const dead = reduceStatus(reduceAll(before, announces), toEvidence([20_001, 'process', end]), announces)
        expect(pickSaid(reduceAll(after, announces, dead))).toEqual(pickSaid(dead))
        const relaunched = reduceStatus(dead, toEvidence([30_000, 'process', 'launched']), announces)
        expect(pickSaid(relaunched)).toEqual({
          status: 'unknown',
          reason: 'starting',
          detail: undefined,
          turnsEnded: 0,
        })
      }),
    )
  })

  test('unknown comes only from a launch or a silent backend', () => {
    fc.assert(
      fc.property(anyHistory, anyAnnounces, (history, announces) => {
        let state = initialStatus(0)
        for (const evidence of history) {
          const next = reduceStatus(state, evidence, announces)
          const mayForget = evidence.claim.kind === 'launched' || evidence.claim.kind === 'backend_silent'
          if (next.status === 'unknown' && state.status !== 'unknown') expect(mayForget).toBe(true)
          state = next
        }
      }),
    )
  })

  test('no screen ends a turn that a living source which announces ends has told of', () => {
    const screens = fc.array(
      fc.record({
        source: fc.constantFrom('title' as const, 'screen' as const, 'process' as const),
        claim: fc.constantFrom<Claim>(claims.quiet, claims.ready, claims.busy, claims.silent, claims.retrying),
        atMs: fc.integer({ min: 0, max: 90_000 }),
        raw: fc.constant('rule'),
      }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(inOrder, screens, fc.constantFrom('api' as const, 'hook' as const), (before, pictures, source) => {
        const announces: Announces = { [source]: ['turn_started', 'turn_ended'] }
        // Of the former life only the living matter: a dead agent runs no turn.
        const alive = before.filter(({ claim }) => claim.kind !== 'exited' && claim.kind !== 'lost')
        const started = reduceStatus(reduceAll(alive, announces), toEvidence([20_001, source, 'start']), announces)
        const state = reduceAll(pictures, announces, started)
        expect(['idle', 'completed']).not.toContain(state.status)
        expect(state.turnsEnded).toBe(started.turnsEnded)
      }),
    )
  })

  test('the trail is bounded, and its last entry tells of the last piece', () => {
    fc.assert(
      fc.property(fc.array(anyEvidence, { minLength: 1, maxLength: 200 }), anyAnnounces, (history, announces) => {
        const state = reduceAll(history, announces)
        expect(state.trail.length).toBeLessThanOrEqual(trailMax)
        const fresh = { ...toEvidence([50_000, 'screen', 'quiet']), raw: 'fresh' }
        expect(reduceStatus(state, fresh, announces).trail.at(-1)?.evidence).toBe(fresh)
      }),
    )
  })

  test('replaying it gives the same state, and nothing that was given is changed', () => {
    fc.assert(
      fc.property(anyHistory, anyAnnounces, (history, announces) => {
        const copy = structuredClone(history)
        expect(reduceAll(history, announces)).toEqual(reduceAll(copy, announces))
        expect(history).toEqual(copy)
      }),
    )
  })

  test('a piece that is told again at once is not even noted', () => {
    fc.assert(
      fc.property(anyHistory, anyEvidence, anyAnnounces, (history, evidence, announces) => {
        const once = reduceStatus(reduceAll(history, announces), evidence, announces)
        expect(reduceStatus(once, evidence, announces)).toBe(once)
      }),
    )
  })

  test('pieces of one source that are told again later, in any order, change nothing that is said', () => {
    const oneSource = fc
      .uniqueArray(anyEvidence, { maxLength: 30, selector: ({ atMs }) => atMs })
      .map((history) =>
        history.toSorted((x, y) => x.atMs - y.atMs).map((each) => ({ ...each, source: 'hook' as const })),
      )
      .map((history) => history.filter(({ claim }) => claim.kind !== 'backend_silent'))
    fc.assert(
      fc.property(oneSource, fc.infiniteStream(fc.nat()), anyAnnounces, (history, picks, announces) => {
        const state = reduceAll(history, announces)
        const again = [...picks.take(20)].flatMap((pick) => history[pick % Math.max(1, history.length)] ?? [])
        expect(pickSaid(reduceAll(again, announces, state))).toEqual(pickSaid(state))
      }),
    )
  })

  test('the number of ended turns never falls but by a launch, and grows by one at most', () => {
    fc.assert(
      fc.property(anyHistory, anyAnnounces, (history, announces) => {
        let state = initialStatus(0)
        for (const evidence of history) {
          const next = reduceStatus(state, evidence, announces)
          const grown = next.turnsEnded - state.turnsEnded
          if (evidence.claim.kind !== 'launched') expect([0, 1]).toContain(grown)
          state = next
        }
      }),
    )
  })
})

describe('the trail', () => {
  test('keeps one entry for screens that say the same without changing anything', () => {
    const screens = Array.from(
      { length: 100 },
      (_, i): Evidence => ({
        source: 'screen',
        claim: claims.busy,
        atMs: 30 + i,
        raw: 'spinner',
      }),
    )
    const state = reduceAll(screens, hooksTell, run([launch, [20, 'hook', 'start']], hooksTell))
    expect(state.trail.map(({ effect, why }) => `${effect}: ${why}`)).toEqual([
      'took: unknown (starting)',
      'took: processing (turn)',
      'kept: already processing',
    ])
    expect(state.trail.at(-1)?.evidence.atMs).toBe(129)
  })

  test('holds the newest pieces alone', () => {
    const lines = Array.from({ length: 200 }, (_, i): Line => [20 + i, 'hook', i % 2 === 0 ? 'start' : 'answered'])
    const { trail } = run(lines, hooksTell)
    expect([trail.length, trail[0]?.evidence.atMs, trail.at(-1)?.evidence.atMs]).toEqual([
      trailMax,
      220 - trailMax,
      219,
    ])
  })

  test('keeps an end of the agent apart, so that it is known when it is told again', () => {
    const lines: readonly Line[] = [launch, [20, 'process', 'lost'], [30, 'process', 'exit1'], [40, 'process', 'exit1']]
    const dead = run(lines, hooksTell)
    const alive = reduceStatus(dead, toEvidence([50, 'process', 'launched']), hooksTell)
    expect(reduceStatus(alive, toEvidence([30, 'process', 'exit1'], 2), hooksTell)).toBe(alive)
  })

  test('names what was dropped and why', () => {
    const state = run([launch, [20, 'hook', 'start'], [15, 'screen', 'ready']], hooksTell)
    expect(state.trail.at(-1)).toMatchObject({ effect: 'dropped', why: 'older than what decided the present status' })
  })
})
