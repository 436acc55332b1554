/**
 * "While you were away": what happened to a supervisor's team while no server ran, as one notice. It is put together
 * from the events of the recovery, once all that was missed is known, and is told once even when the server ends
 * again meanwhile: where to begin is a fact in the store until the notices stand in it.
 */
import { sleep } from '../async/wait.ts'
import type { DomainEvent } from '../domain/events.ts'
import type { TerminalId } from '../domain/ids.ts'
import { isJobOpen, type Job } from '../domain/job.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { AppContext } from './context.ts'
import { queueMessage } from './mailbox.ts'

const fromFact = 'away_digest_from'
/** Until then all terminals have a status and all turns that ended unseen are known, but for a broken one. */
const settleLimitMs = 10_000
const lookEveryMs = 200
const linesMax = 20
const lineLengthMax = 200
const eventsMax = 10_000

/** Notes where the absence began. To be called before the recovery writes its first event. */
export function beginAwayDigest(context: AppContext): void {
  const { store } = context
  if ((store.getFact(fromFact) ?? '') === '') store.setFact(fromFact, String(store.events.lastSeq()))
}

/** Waits until the recovery has settled, then queues the notices. Errors: none of a single supervisor's. */
export async function tellWhatHappened(context: AppContext, signal: AbortSignal): Promise<void> {
  const { store, clock, runtimes } = context
  const endMs = clock.monotonicMs() + settleLimitMs
  while (clock.monotonicMs() < endMs && [...runtimes.values()].some((runtime) => runtime.isSettling)) {
    await sleep(clock, lookEveryMs, signal)
  }
  signal.throwIfAborted()
  const from = Number(store.getFact(fromFact))
  store.transaction(() => {
    for (const [receiverId, lines] of collect(context, store.events.listAfter(from, eventsMax))) {
      queueDigest(context, receiverId, lines)
    }
    store.setFact(fromFact, '')
  })
}

function queueDigest(context: AppContext, receiverId: TerminalId, lines: readonly string[]): void {
  if (context.store.terminals.find(receiverId)?.life !== 'live') return
  const shown = lines.slice(0, linesMax)
  const more = lines.length > shown.length ? [`- and ${lines.length - shown.length} more; \`cao ls\` shows all`] : []
  const body = ['While the CAO server was away, this happened to your team:', ...shown, ...more].join('\n')
  try {
    queueMessage(context, { kind: 'notice', senderId: 'cao', receiverId, body, jobId: undefined })
  } catch (error) {
    context.log.write('warn', 'digest not queued', { receiverId, error: String(error) })
  }
}

/** Lines by supervisor; of a worker whose task has ended, only that. */
function collect(context: AppContext, events: readonly DomainEvent[]): ReadonlyMap<TerminalId, readonly string[]> {
  const { store } = context
  const digests = new Map<TerminalId, string[]>()
  const add = (callerId: TerminalId | undefined, line: string) => {
    if (callerId === undefined) return
    digests.set(callerId, [...(digests.get(callerId) ?? []), `- ${line}`.slice(0, lineLengthMax)])
  }
  const toldWorkers = new Set<TerminalId>()
  for (const event of events) {
    if (event.type !== 'job.state_changed') continue
    const job = store.jobs.find(event.jobId)
    if (job === undefined || isJobOpen(job) || !isNews(context, job)) continue
    if (job.workerId !== undefined) toldWorkers.add(job.workerId)
    add(job.callerId, describeJob(job))
  }
  for (const event of events) {
    if (event.type !== 'terminal.life_changed' && event.type !== 'question.opened') continue
    const worker = store.terminals.find(event.terminalId)
    if (worker === undefined || toldWorkers.has(worker.id)) continue
    const who = `${worker.profileName} ${worker.id}`
    if (event.type === 'question.opened') {
      const isOpen = store.questions.find(event.questionId)?.closedAtMs === undefined
      if (isOpen) add(askerOf(context, worker), `${who} asks (${event.questionId}): ${oneLine(event.text)}`)
    } else if (event.to === 'exited') add(askerOf(context, worker), `${who} has ended: ${event.detail ?? 'unseen'}`)
    else if (event.to === 'lost') add(askerOf(context, worker), `${who} is lost: ${event.detail ?? 'its pane is gone'}`)
  }
  return digests
}

/** Whose worker it is: who started it, or else who gave it its last task. */
function askerOf({ store }: AppContext, worker: Terminal): TerminalId | undefined {
  return worker.callerId ?? store.jobs.listForWorker(worker.id).findLast((job) => job.callerId !== undefined)?.callerId
}

/** Who waits in a handoff gets its end from the call itself. */
function isNews(context: AppContext, job: Job): boolean {
  if (job.kind === 'assign' || job.callerId === undefined) return true
  return !job.isReported && context.runtimes.get(job.callerId)?.state.status !== 'processing'
}

function describeJob(job: Job): string {
  const who = `the task of ${job.profileName} ${job.workerId ?? '(not started)'}`
  if (job.state === 'answered') return `${who} is done; its result comes as a message of its own`
  return `${who} has ended (${job.state}): ${oneLine(job.result?.failure ?? '')}`
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
