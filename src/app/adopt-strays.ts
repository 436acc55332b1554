/**
 * Takes in agents whose panes live and whose rows are gone, as after the loss of the database: each by the tag of its pane and
 * the record in its folder. Messages and jobs of the lost rows do not come back.
 */
import type { Waiting } from '../async/wait.ts'
import type { FoundTerminal } from '../backend/backend.ts'
import type { TerminalId } from '../domain/ids.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { AdoptOutcome } from './app.ts'
import { type AppContext, stepTerminal } from './context.ts'
import { adopt } from './recover.ts'
import type { RuntimeListeners } from './runtime.ts'
import { closeIfEmpty, insertSession } from './sessions.ts'
import { terminalDirs } from './terminal-dirs.ts'
import { loadRecord } from './terminal-record.ts'

/** Errors: BACKEND_GONE, BACKEND_TIMEOUT; one that can not be taken in stops no other and is named. */
export async function adoptStrays(
  context: AppContext,
  listeners: RuntimeListeners,
  waiting: Waiting,
): Promise<AdoptOutcome> {
  const adopted: TerminalId[] = []
  const errors: { readonly id: TerminalId; readonly error: string }[] = []
  const panes = await context.backend.list(waiting)
  for (const pane of panes.filter((each) => !each.isDead && isStray(context, each.terminalId))) {
    try {
      await adoptStray(context, listeners, pane)
      adopted.push(pane.terminalId)
    } catch (error) {
      errors.push({ id: pane.terminalId, error: error instanceof Error ? error.message : String(error) })
    }
  }
  return { adopted, errors }
}

/** No row at all: one that was deleted, lost or exited is known. */
export const isStray = ({ store }: Pick<AppContext, 'store'>, id: TerminalId): boolean =>
  store.terminals.find(id) === undefined

async function adoptStray(context: AppContext, listeners: RuntimeListeners, found: FoundTerminal): Promise<void> {
  const { terminalId: id, pane } = found
  const record = await loadRecord(terminalDirs(context.layout, id).dir, id)
  if (record === undefined) throw new Error(`pane ${pane.paneId} in ${found.sessionName}: no record says what it was`)
  insertSession(context, record.sessionName, record.workingDirectory)
  try {
    await adopt(context, { row: insertRow(context, record), listeners }, found)
  } catch (error) {
    if (stepTerminal(context, id, 'lose', { reason: `it could not be taken in: ${String(error)}` })) throw error
    closeIfEmpty(context, record.sessionName)
    throw error
  }
}

function insertRow(context: AppContext, record: Parameters<AppContext['store']['terminals']['insert']>[0]): Terminal {
  const { store, clock, events } = context
  const { row, event } = store.transaction(() => {
    const row = store.terminals.insert(record)
    const { id: terminalId, sessionName, provider, profileName, callerId } = row
    const body = { type: 'terminal.created', terminalId, sessionName, provider, profileName, callerId } as const
    return { row, event: store.events.append(body, clock.nowMs()) }
  })
  events.announce(event)
  return row
}
