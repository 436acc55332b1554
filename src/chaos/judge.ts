/**
 * The checker: compares what was asked, what CAO's rows claim and what the agents themselves recorded. Pure, and written
 * against the outside only, so that it can not share a fault with what it checks.
 *
 * lost: accepted, sender and receiver alive at the end, and neither confirmed nor in a typed bad end that its sender was
 * told. doubled: the same message stands twice in its receiver's record. false: confirmed, and not in that record.
 * Beyond these: misplaced (stands in another agent's record), out of order (two messages of one sender to one receiver).
 */
import { type AskedJob, ourName, type Send } from './ledger.ts'
import type { AgentLine, AgentRecords, MessageRow, StoreRows } from './records.ts'
import { answerOf, askedAnswer, heardOf } from './traffic-plan.ts'

export type Evidence = {
  readonly sends: readonly Send[]
  readonly jobs: readonly AskedJob[]
  readonly rows: StoreRows
  readonly records: AgentRecords
  /** Terminals that took part and should live, by what we did to them. */
  readonly alive: ReadonlySet<string>
}

export type Verdict = {
  readonly sends: number
  readonly accepted: number
  /** Accepted, both ends alive. */
  readonly surviving: number
  readonly confirmed: number
  /** Surviving and in a bad end that the sender was told. */
  readonly toldBad: readonly string[]
  readonly jobs: number
  readonly jobsAnswered: number
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly falseClaims: readonly string[]
  readonly misplaced: readonly string[]
  readonly outOfOrder: readonly string[]
  readonly badJobs: readonly string[]
  /** Questions that agents asked in the course of the plan, and those whose agent went on with the right answer. */
  readonly questions: number
  readonly questionsAnswered: number
  /** Agents that heard another answer than was given, and living ones that heard none. */
  readonly badAnswers: readonly string[]
}

const confirmedStates = new Set(['confirmed', 'turn_started', 'answered'])
const toldWord = 'told: '
const badStates = new Set(['refused', 'unconfirmed', 'expired', 'undeliverable'])
const headerPattern = /^\[cao ([a-z_]+) ([a-f0-9]{12}) from [^\]]*\]$/

/** One text that an agent took from its composer. */
type Taken = { readonly token: string | undefined; readonly first: string; readonly body: string; readonly at: number }

export function judge(evidence: Evidence): Verdict {
  const { sends, rows, records, alive } = evidence
  const taken = new Map([...records].map(([id, lines]) => [id, readTaken(lines)]))
  const byMarker = new Map<string, readonly MessageRow[]>()
  for (const row of rows.messages) {
    const marker = firstLine(row.body)
    byMarker.set(marker, [...(byMarker.get(marker) ?? []), row])
  }
  const accepted = sends.filter((send) => isAccepted(send, records))
  const isAlive = (id: string) => id === ourName || alive.has(id)
  const surviving = accepted.filter((send) => isAlive(send.senderId) && isAlive(send.receiverId))
  const fates = surviving.map((send) => ({ send, fate: fateOf(send, byMarker.get(send.marker) ?? [], evidence) }))
  const count = (fate: string) => fates.filter((one) => one.fate === fate).length
  const jobs = judgeJobs(evidence)
  const questions = judgeQuestions(evidence)
  return {
    sends: sends.length,
    accepted: accepted.length,
    surviving: surviving.length,
    confirmed: count('confirmed'),
    toldBad: fates.flatMap(({ send, fate }) =>
      fate.startsWith(toldWord) ? [`${send.marker} ${send.senderId} → ${send.receiverId}: ${fate}`] : [],
    ),
    jobs: jobs.asked,
    jobsAnswered: jobs.answered,
    lost: fates.flatMap(({ send, fate }) =>
      fate === 'confirmed' || fate.startsWith(toldWord)
        ? []
        : [`${send.marker} ${send.senderId} → ${send.receiverId}: ${fate}`],
    ),
    doubled: [...findDoubled(taken), ...findDoubledRows(byMarker)],
    falseClaims: findFalse(rows.messages, taken),
    misplaced: findMisplaced(rows.messages, taken),
    outOfOrder: findOutOfOrder(rows.messages, taken),
    badJobs: jobs.problems,
    questions: questions.asked,
    questionsAnswered: questions.answered,
    badAnswers: questions.problems,
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

function readTaken(lines: readonly AgentLine[]): readonly Taken[] {
  return lines
    .filter(({ type }) => type === 'user')
    .flatMap(({ text }, at) => [text, ...partsOfDigest(text)].map((part) => ({ ...readOne(part), at })))
}

function readOne(text: string): Omit<Taken, 'at'> {
  const first = firstLine(text)
  const token = headerPattern.exec(first)?.[2]
  const body = token === undefined ? text : text.slice(first.length + 1)
  return { token, first: firstLine(body), body }
}

/** A digest brings several messages, each behind its own header. */
function partsOfDigest(text: string): readonly string[] {
  const isDigest = headerPattern.exec(firstLine(text))?.[1] === 'digest'
  return isDigest ? text.split(/\n(?=\[cao [a-z_]+ [a-f0-9]{12} from )/).slice(1) : []
}

/** Of an agent's own send its own record tells: the tool's answer, behind the line with the call. */
function isAccepted(send: Send, records: AgentRecords): boolean {
  if (send.via === 'http') return send.isAccepted
  return (records.get(send.senderId) ?? []).some((line) => {
    if (line.type !== 'tool' || !line.text.startsWith('send_message ')) return false
    const call = firstLine(line.text)
    return call.includes(`"message":"${send.marker}"`) && isSuccess(line.text.slice(call.length + 1))
  })
}

function isSuccess(answer: string): boolean {
  const value = parseObject(answer)
  return value?.['success'] === true
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** `confirmed`, `told: ` and why, or the sentence of a loss. */
function fateOf(send: Send, rows: readonly MessageRow[], { records }: Evidence): string {
  const row = rows.find(({ receiverId }) => receiverId === send.receiverId)
  if (row === undefined) return 'accepted, and there is no such message'
  if (confirmedStates.has(row.state)) return 'confirmed'
  const detail = row.detail ?? 'no reason'
  if (!badStates.has(row.state)) return `message ${row.id} is still ${row.state} (${detail})`
  const bad = `${toldWord}message ${row.id} is ${row.state} (${detail})`
  // Who sends over HTTP is told when it asks: the state and the reason stand there.
  if (send.senderId === ourName)
    return row.detail === undefined ? `message ${row.id} is ${row.state} without reason` : bad
  const notice = `Your message ${row.id} to ${row.receiverId} is ${row.state}`
  const wasTold = (records.get(send.senderId) ?? []).some(({ type, text }) => type === 'user' && text.includes(notice))
  return wasTold ? bad : `message ${row.id} is ${row.state} (${detail}), and its sender was not told`
}

function findDoubled(taken: ReadonlyMap<string, readonly Taken[]>): readonly string[] {
  return [...taken].flatMap(([id, texts]) => {
    const seen = new Map<string, number>()
    for (const { token } of texts) if (token !== undefined) seen.set(token, (seen.get(token) ?? 0) + 1)
    return [...seen].flatMap(([token, times]) =>
      times > 1 ? [`${token} stands ${times} times in the record of ${id}`] : [],
    )
  })
}

/** One send that became two messages. */
function findDoubledRows(byMarker: ReadonlyMap<string, readonly MessageRow[]>): readonly string[] {
  return [...byMarker].flatMap(([marker, rows]) =>
    marker.startsWith('chaos-') && rows.length > 1
      ? [`${marker} is messages ${rows.map(({ id }) => id).join(', ')}`]
      : [],
  )
}

function findFalse(messages: readonly MessageRow[], taken: ReadonlyMap<string, readonly Taken[]>): readonly string[] {
  return messages.flatMap((row) => {
    const texts = taken.get(row.receiverId)
    if (texts === undefined || !confirmedStates.has(row.state) || row.kind === 'input') return []
    const found = texts.find(({ token }) => token === row.token)
    if (found === undefined)
      return [`message ${row.id} (${row.token}) is ${row.state}, and ${row.receiverId} never got it`]
    return found.body.trimEnd() === row.body.trimEnd()
      ? []
      : [`message ${row.id} arrived at ${row.receiverId} as another text`]
  })
}

function findMisplaced(
  messages: readonly MessageRow[],
  taken: ReadonlyMap<string, readonly Taken[]>,
): readonly string[] {
  const receivers = new Map(messages.map((row) => [row.token, row.receiverId]))
  return [...taken].flatMap(([id, texts]) =>
    texts.flatMap(({ token, first }) => {
      if (token === undefined) return [`${id} took a text that CAO did not send whole: ${first.slice(0, 60)}`]
      const receiver = receivers.get(token)
      return receiver === id ? [] : [`${token} for ${receiver ?? 'nobody'} stands in the record of ${id}`]
    }),
  )
}

function findOutOfOrder(
  messages: readonly MessageRow[],
  taken: ReadonlyMap<string, readonly Taken[]>,
): readonly string[] {
  const last = new Map<string, { readonly row: MessageRow; readonly at: number }>()
  return messages.flatMap((row) => {
    const at = taken.get(row.receiverId)?.find(({ token }) => token === row.token)?.at
    if (at === undefined) return []
    const pair = `${row.senderId} → ${row.receiverId}`
    const before = last.get(pair)
    last.set(pair, { row, at })
    return before !== undefined && before.at > at ? [`${pair}: message ${row.id} came before ${before.row.id}`] : []
  })
}

type JobsVerdict = { readonly asked: number; readonly answered: number; readonly problems: readonly string[] }

/** Jobs whose asker lives and was told that they run: each has ended, and the asker knows how. */
function judgeJobs({ jobs, rows, records, alive }: Evidence): JobsVerdict {
  const problems: string[] = []
  let asked = 0
  let answered = 0
  for (const job of jobs.filter(({ callerId }) => alive.has(callerId))) {
    const told = findToolAnswer(records.get(job.callerId) ?? [], job)
    if (told === undefined) continue
    asked++
    const row = rows.jobs.find(({ task }) => firstLine(task) === job.marker)
    const isOpen = row !== undefined && (row.state === 'created' || row.state === 'running')
    if (isOpen) problems.push(`job ${row.id} (${job.marker}) is still ${row.state}`)
    const outcome = job.kind === 'handoff' ? judgeHandoff(job, told) : judgeAssign(job, told, { rows, records })
    if (outcome === 'answered') answered++
    else if (outcome !== 'failed') problems.push(`${job.kind} ${job.marker} of ${job.callerId}: ${outcome}`)
  }
  return { asked, answered, problems }
}

type ToolAnswer = Readonly<Record<string, unknown>>

function findToolAnswer(lines: readonly AgentLine[], job: AskedJob): ToolAnswer | undefined {
  const line = lines.find(({ type, text }) => type === 'tool' && firstLine(text).includes(`"${job.marker}\\n`))
  return line === undefined ? undefined : parseObject(line.text.slice(firstLine(line.text).length + 1))
}

/** `answered`, `failed` (and said so), or what is wrong. */
function judgeHandoff(job: AskedJob, told: ToolAnswer): string {
  if (told['success'] === true) {
    return told['output'] === answerOf(job.marker) ? 'answered' : `another answer: ${JSON.stringify(told['output'])}`
  }
  return typeof told['message'] === 'string' && told['message'] !== '' ? 'failed' : 'failed without a word'
}

function judgeAssign(job: AskedJob, told: ToolAnswer, { rows, records }: Pick<Evidence, 'rows' | 'records'>): string {
  if (told['success'] !== true) return typeof told['message'] === 'string' ? 'failed' : 'failed without a word'
  const jobId = told['job_id']
  const row = rows.jobs.find(({ id }) => id === jobId)
  if (row === undefined) return `there is no job ${String(jobId)}`
  // A false end that a late answer corrected has two: the last one is how it stands.
  const callback = rows.messages.findLast((message) => message.kind === 'callback' && message.jobId === row.id)
  if (callback === undefined) return `it is ${row.state}, and no callback was sent`
  const texts = readTaken(records.get(job.callerId) ?? []).filter(({ token }) => token === callback.token)
  // A callback that is lost or doubled is a message of its own for the other checks; here the answer counts.
  if (texts.length === 0)
    return badStates.has(callback.state)
      ? 'failed'
      : `its callback ${callback.id} is ${callback.state}, and did not arrive`
  if (row.state !== 'answered') return 'failed'
  return texts[0]?.body.includes(answerOf(job.marker)) === true ? 'answered' : 'the callback holds another answer'
}

/**
 * A question stands in the record of who asked, with its marker; what was heard stands in what it said after that. A worker only goes
 * on: words of its task in braces would have been filled in by its asker.
 */
function judgeQuestions({ records, alive }: Evidence): JobsVerdict {
  const problems: string[] = []
  let asked = 0
  let answered = 0
  for (const [id, lines] of records) {
    for (const [at, { type, text }] of lines.entries()) {
      const marker = type === 'question' ? /^(chaos-\d+-\d+): /.exec(text)?.[1] : undefined
      if (marker === undefined) continue
      asked++
      const said = lines.slice(at + 1).filter((line) => line.type === 'assistant')
      const told = said.find(({ text: words }) => words.includes(heardOf(marker)))?.text
      const isWorkDone = said.some(({ text: words }) => words.includes(answerOf(marker)))
      const heard = told?.slice(told.indexOf(heardOf(marker)) + heardOf(marker).length).trim()
      if (heard === askedAnswer || (heard === undefined && isWorkDone)) answered++
      else if (heard !== undefined) problems.push(`${id} asked ${marker} and heard ${JSON.stringify(heard)}`)
      else if (alive.has(id)) problems.push(`${id} asked ${marker} and heard nothing`)
    }
  }
  return { asked, answered, problems }
}
