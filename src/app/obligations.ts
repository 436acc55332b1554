/**
 * Work that was given and seems to have ended without a word: a job is open, its worker has taken the task, rests, and nothing
 * of it waits or runs. Whoever gave it is told once. Every other end of a worker ends its job (`job-news.ts`).
 */
import { sleep } from '../async/wait.ts'
import type { Job } from '../domain/job.ts'
import type { AppContext } from './context.ts'
import { queueMessage } from './mailbox.ts'

const lookEveryMs = 5_000
/** A worker rests this long before it is noticed. Units: ms. */
export const restMs = 60_000
const toldFact = 'idle_jobs_told'

export async function watchObligations(context: AppContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(context.clock, lookEveryMs, signal).catch(() => undefined)
    if (!signal.aborted) noticeIdle(context)
  }
}

function noticeIdle(context: AppContext): void {
  const { store } = context
  const open = store.jobs.listOpen()
  const told = new Set(JSON.parse(store.getFact(toldFact) ?? '[]') as string[])
  const fresh = open.filter((job) => !told.has(job.id) && isForgotten(context, job))
  if (fresh.length === 0) return
  store.transaction(() => {
    const still = open.filter(({ id }) => told.has(id)).map(({ id }) => id)
    store.setFact(toldFact, JSON.stringify([...still, ...fresh.map(({ id }) => id)]))
    for (const job of fresh) tell(context, job)
  })
}

function isForgotten({ store, runtimes, clock }: AppContext, { workerId, messageId, claim }: Job): boolean {
  const state = workerId === undefined ? undefined : runtimes.get(workerId)?.state
  if (workerId === undefined || messageId === undefined || claim !== undefined || state === undefined) return false
  const isRest = state.status === 'idle' || state.status === 'completed'
  if (!isRest || clock.nowMs() - state.sinceMs < restMs) return false
  const task = store.messages.find(messageId)
  const isTaken = task?.state === 'confirmed' || task?.state === 'turn_started' || task?.state === 'answered'
  return isTaken && clock.nowMs() - task.updatedAtMs >= restMs
}

function tell(context: AppContext, { id, callerId, workerId, profileName }: Job): void {
  const { store, log } = context
  log.write('warn', 'worker rests with an open job', { jobId: id, terminalId: workerId })
  if (callerId === undefined || store.terminals.find(callerId)?.life !== 'live') return
  const body = `Your worker ${profileName} (${workerId}) rests, and its task ${id} has no result: no end of its turn was seen. Look at it, ask it, or cancel the task.`
  try {
    queueMessage(context, { kind: 'notice', senderId: 'cao', receiverId: callerId, body, jobId: undefined })
  } catch (error) {
    log.write('warn', 'asker not told of a resting worker', { jobId: id, error: String(error) })
  }
}
