/**
 * An idle worker that could take one more task: the asker's own, of the same profile, in the same directory, at rest and with
 * nothing that waits for it. It remembers what it did before, which is why it is taken only where that is asked for.
 */
import type { TerminalId } from '../domain/ids.ts'
import { isJobOpen } from '../domain/job.ts'
import type { StartJob } from './app.ts'
import type { AppContext } from './context.ts'

export type IdleContext = Pick<AppContext, 'store' | 'runtimes'>

/** The one that has rested longest; undefined when there is none, and for whoever is no agent. */
export function findIdleWorker({ store, runtimes }: IdleContext, request: StartJob): TerminalId | undefined {
  const caller = request.callerId === undefined ? undefined : store.terminals.find(request.callerId)
  if (caller === undefined || request.allowedTools !== undefined || request.useWorktree === true) return undefined
  const directory = request.workingDirectory ?? caller.workingDirectory
  const idle = store.terminals.list(request.sessionName ?? caller.sessionName).filter((each) => {
    const status = runtimes.get(each.id)?.state.status
    return (
      each.callerId === caller.id &&
      each.life === 'live' &&
      each.profileName === request.profileName &&
      each.workingDirectory === directory &&
      each.model === request.model &&
      (request.provider === undefined || each.provider === request.provider) &&
      (status === 'idle' || status === 'completed') &&
      store.worktrees.find(each.id) === undefined &&
      store.messages.count(each.id, ['queued', 'leased', 'typing', 'typed', 'confirmed', 'turn_started']) === 0 &&
      !store.jobs.listForWorker(each.id).some(isJobOpen)
    )
  })
  return idle.toSorted((a, b) => a.lastActiveAtMs - b.lastActiveAtMs)[0]?.id
}
