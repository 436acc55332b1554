/** The checker must be able to find each fault that it looks for: one healthy world, broken in one place per test. */
import { expect, test } from 'vitest'
import { type Evidence, judge, type Verdict } from './judge.ts'
import { ourName } from './ledger.ts'
import type { AgentLine, MessageRow } from './records.ts'

const a = 'aaaaaaaa'
const b = 'bbbbbbbb'

const row = (id: number, more: Partial<MessageRow>): MessageRow => ({
  id,
  token: String(id).padStart(12, '0'),
  kind: 'send_message',
  senderId: ourName,
  receiverId: b,
  jobId: undefined,
  body: `chaos-1-0000${id}`,
  state: 'answered',
  detail: 'hook: the agent recorded the text',
  ...more,
})
const user = ({ token, kind, senderId, body }: MessageRow): AgentLine => ({
  type: 'user',
  text: `[cao ${kind} ${token} from ${senderId}]\n${body}`,
})
const tool = (call: string, answer: object): AgentLine => ({
  type: 'tool',
  text: `${call}\n${JSON.stringify(answer)}`,
})

const first = row(1, {})
const second = row(2, { senderId: a })
const third = row(3, {})
const callback = row(4, {
  kind: 'callback',
  senderId: 'cccccccc',
  receiverId: a,
  jobId: 'job-1',
  body: 'Result from developer (cccccccc):\nthe answer to chaos-1-00010',
})
const sentBySelf = tool(`send_message {"receiver_id":"${b}","message":"chaos-1-00002"}`, { success: true })
const assigned = tool('assign {"agent_profile":"developer","message":"chaos-1-00010\\nreply x"}', {
  success: true,
  job_id: 'job-1',
})
const handedOff = tool('handoff {"agent_profile":"developer","message":"chaos-1-00011\\nreply x"}', {
  success: true,
  output: 'the answer to chaos-1-00011',
})

const asked: AgentLine = { type: 'question', text: 'chaos-1-00012: go on?' }
const heard = (answer: string): AgentLine => ({ type: 'assistant', text: `chaos-1-00012 heard ${answer}` })

const job = (id: string, marker: string, kind: string) => ({
  id,
  kind,
  callerId: a,
  workerId: 'cccccccc',
  task: `${marker}\nreply x`,
  state: 'answered',
})
const send = (marker: string, senderId: string) => ({
  marker,
  via: senderId === ourName ? ('http' as const) : ('agent' as const),
  senderId,
  receiverId: b,
  isAccepted: senderId === ourName,
  messageId: undefined,
})

type World = {
  messages: MessageRow[]
  ofA: AgentLine[]
  ofB: AgentLine[]
  jobs: ReturnType<typeof job>[]
  alive: string[]
}

function judgeWorld(change: (world: World) => void): Verdict {
  const world: World = {
    messages: [first, second, third, callback],
    ofA: [sentBySelf, assigned, handedOff, user(callback)],
    ofB: [user(first), user(second), user(third), asked, heard('yes')],
    jobs: [job('job-1', 'chaos-1-00010', 'assign'), job('job-2', 'chaos-1-00011', 'handoff')],
    alive: [a, b],
  }
  change(world)
  const evidence: Evidence = {
    sends: [send('chaos-1-00001', ourName), send('chaos-1-00002', a), send('chaos-1-00003', ourName)],
    jobs: [
      { marker: 'chaos-1-00010', kind: 'assign', callerId: a },
      { marker: 'chaos-1-00011', kind: 'handoff', callerId: a },
    ],
    rows: { messages: world.messages, jobs: world.jobs, terminals: [] },
    records: new Map([
      [a, world.ofA],
      [b, world.ofB],
    ]),
    alive: new Set(world.alive),
  }
  return judge(evidence)
}

const replace = (world: World, id: number, more: Partial<MessageRow>) => {
  world.messages = world.messages.map((message) => (message.id === id ? { ...message, ...more } : message))
}
const without = (lines: AgentLine[], lost: AgentLine) => lines.filter(({ text }) => text !== lost.text)

const healthy: Verdict = {
  sends: 3,
  accepted: 3,
  surviving: 3,
  confirmed: 3,
  toldBad: [],
  jobs: 2,
  jobsAnswered: 2,
  lost: [],
  doubled: [],
  falseClaims: [],
  misplaced: [],
  outOfOrder: [],
  badJobs: [],
  questions: 1,
  questionsAnswered: 1,
  badAnswers: [],
}

test('a world in which all is well has no fault', () => {
  expect(judgeWorld(() => undefined)).toEqual(healthy)
})

test('a message that still waits is lost', () => {
  const verdict = judgeWorld((world) => {
    replace(world, 1, { state: 'queued', detail: undefined })
    world.ofB = without(world.ofB, user(first))
  })
  expect(verdict).toEqual({
    ...healthy,
    confirmed: 2,
    lost: [`chaos-1-00001 ${ourName} → ${b}: message 1 is still queued (no reason)`],
  })
})

test('an accepted message without a row is lost, and one that was never accepted is not', () => {
  const verdict = judgeWorld((world) => {
    world.messages = world.messages.filter(({ id }) => id !== 1 && id !== 2)
    world.ofA = without(world.ofA, sentBySelf)
    world.ofB = [user(third)]
  })
  expect(verdict.lost).toEqual([`chaos-1-00001 ${ourName} → ${b}: accepted, and there is no such message`])
  expect(verdict.accepted).toBe(2)
})

test('a bad end is lost when its sending agent was not told, and told when it was', () => {
  const untold = judgeWorld((world) => replace(world, 2, { state: 'unconfirmed', detail: 'why' }))
  expect(untold.lost).toEqual([
    `chaos-1-00002 ${a} → ${b}: message 2 is unconfirmed (why), and its sender was not told`,
  ])
  const told = judgeWorld((world) => {
    replace(world, 2, { state: 'unconfirmed', detail: 'why' })
    const notice = row(5, {
      kind: 'notice',
      senderId: 'cao',
      receiverId: a,
      body: `Your message 2 to ${b} is unconfirmed: why`,
    })
    world.messages.push(notice)
    world.ofA.push(user(notice))
  })
  expect(told).toEqual({
    ...healthy,
    confirmed: 2,
    toldBad: [`chaos-1-00002 ${a} → ${b}: told: message 2 is unconfirmed (why)`],
  })
})

test('what is between agents that died is not counted', () => {
  const verdict = judgeWorld((world) => {
    replace(world, 2, { state: 'queued' })
    world.ofB = without(world.ofB, user(second))
    world.alive = [b]
  })
  expect(verdict).toEqual({ ...healthy, surviving: 2, confirmed: 2, jobs: 0, jobsAnswered: 0 })
})

test('the same message twice in one record is doubled', () => {
  expect(judgeWorld((world) => world.ofB.push(user(first))).doubled).toEqual([
    `${first.token} stands 2 times in the record of ${b}`,
  ])
})

test('one send that became two messages is doubled', () => {
  const twin = row(6, { body: first.body })
  const verdict = judgeWorld((world) => {
    world.messages.push(twin)
    world.ofB.push(user(twin))
  })
  expect(verdict.doubled).toEqual(['chaos-1-00001 is messages 1, 6'])
})

test('confirmed and not in the record is a false claim, and so is another text', () => {
  expect(
    judgeWorld((world) => {
      world.ofB = without(world.ofB, user(first))
    }).falseClaims,
  ).toEqual([`message 1 (${first.token}) is answered, and ${b} never got it`])
  expect(
    judgeWorld((world) => {
      world.ofB = [user({ ...first, body: 'chaos-1-00001 and more' }), user(second), user(third)]
    }).falseClaims,
  ).toEqual([`message 1 arrived at ${b} as another text`])
})

test('a text in another agent, or one that no message of ours is, is misplaced', () => {
  expect(judgeWorld((world) => world.ofA.push(user(first))).misplaced).toEqual([
    `${first.token} for ${b} stands in the record of ${a}`,
  ])
  expect(judgeWorld((world) => world.ofB.push({ type: 'user', text: 'half a mess' })).misplaced).toEqual([
    `${b} took a text that CAO did not send whole: half a mess`,
  ])
})

test('two messages of one sender in the wrong order are told', () => {
  const verdict = judgeWorld((world) => {
    world.ofB = [user(third), user(second), user(first)]
  })
  expect(verdict.outOfOrder).toEqual([`${ourName} → ${b}: message 3 came before 1`])
})

test.each([
  ['is still open', (world: World) => (world.jobs = world.jobs.map((one) => ({ ...one, state: 'running' }))), 2],
  ['has no callback', (world: World) => (world.messages = world.messages.filter(({ id }) => id !== 4)), 1],
  ['has a callback that never came', (world: World) => (world.ofA = without(world.ofA, user(callback))), 1],
  [
    'gives another answer',
    (world: World) =>
      (world.ofA = world.ofA.map((line) => ({ ...line, text: line.text.replace('answer to chaos-1-00011', 'x') }))),
    1,
  ],
] as const)('a job that %s is bad', (_name, change, count) => {
  expect(judgeWorld((world) => void change(world)).badJobs).toHaveLength(count)
})

test('a job that failed and said so is no fault', () => {
  const verdict = judgeWorld((world) => {
    const failed = tool('handoff {"agent_profile":"developer","message":"chaos-1-00011\\nreply x"}', {
      success: false,
      message: 'its worker was lost',
    })
    world.ofA = [sentBySelf, assigned, failed, user(callback)]
  })
  expect(verdict).toEqual({ ...healthy, jobsAnswered: 1 })
})

test('an answer that was not the given one, and a question of a living agent that nobody answered, are bad', () => {
  const wrong = judgeWorld((world) => world.ofB.splice(-1, 1, heard('no')))
  expect(wrong.badAnswers).toEqual([`${b} asked chaos-1-00012 and heard "no"`])
  const none = judgeWorld((world) => world.ofB.splice(-1, 1))
  expect(none).toMatchObject({ questions: 1, questionsAnswered: 0 })
  expect(none.badAnswers).toEqual([`${b} asked chaos-1-00012 and heard nothing`])
  const gone = judgeWorld((world) => {
    world.ofB.splice(-1, 1)
    world.alive = [a]
  })
  expect(gone.badAnswers).toEqual([])
  const worker = judgeWorld((world) =>
    world.ofB.splice(-1, 1, { type: 'assistant', text: 'the answer to chaos-1-00012' }),
  )
  expect(worker).toMatchObject({ questionsAnswered: 1, badAnswers: [] })
})

test('the last callback of a job is how it stands: a late answer corrects a false end', () => {
  const late = row(6, { ...callback, id: 6, token: '000000000006', body: callback.body })
  const verdict = judgeWorld((world) => {
    replace(world, 4, { body: 'The task given to developer (cccccccc) has failed: nothing proves it' })
    world.messages.push(late)
    world.ofA = [sentBySelf, assigned, handedOff, user(world.messages[3] as MessageRow), user(late)]
  })
  expect(verdict).toMatchObject({ jobs: 2, jobsAnswered: 2, badJobs: [] })
})
