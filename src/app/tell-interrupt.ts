/**
 * An agent's turn was interrupted: whoever it works for is told once (by the end of its job, where it has one), and a person's
 * interrupt may hold its queue, so that nothing is typed over what they are about to do.
 */
import { isJobOpen } from '../domain/job.ts'
import type { AppContext } from './context.ts'
import { teamRulesDefault } from './core-context.ts'
import { holdQueue } from './hold-queue.ts'
import { queueMessage } from './mailbox.ts'
import type { Interrupt } from './people.ts'

export function noteInterrupt(context: AppContext, { terminalId, by, detail }: Interrupt): void {
  const { store, log, team = teamRulesDefault } = context
  const isPerson = by === undefined || by.startsWith('person/')
  if (isPerson && team.isHeldByInterrupt)
    holdQueue(context, terminalId, { by: by ?? 'person/pane', why: 'an interrupt' })
  const worker = store.terminals.find(terminalId)
  const caller = worker?.callerId === undefined ? undefined : store.terminals.find(worker.callerId)
  if (worker === undefined || caller?.life !== 'live' || caller.id === by) return
  if (store.jobs.listForWorker(worker.id).some((job) => isJobOpen(job) && job.callerId === caller.id)) return
  const who = by === undefined || by === 'cao' ? '' : ` by ${by}`
  const body = `The turn of your worker ${worker.profileName} (${worker.id}) was interrupted${who}: ${detail}. Nothing is needed from you, unless you wait for it.`
  try {
    queueMessage(context, { kind: 'notice', senderId: 'cao', receiverId: caller.id, body, jobId: undefined })
  } catch (error) {
    log.write('warn', 'caller not told of an interrupt', { terminalId, error: String(error) })
  }
}
