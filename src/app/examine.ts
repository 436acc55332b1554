/** What `cao doctor` asks the server: its backend, and what is left over on the backend and on the disk. */
import { readdir } from 'node:fs/promises'
import { deadlineSignal, type Waiting } from '../async/wait.ts'
import type { BackendFinding } from '../backend/backend.ts'
import { parseTerminalId } from '../domain/ids.ts'
import { isStray } from './adopt-strays.ts'
import type { AppContext } from './context.ts'

const backendLimitMs = 15_000

/** Errors: none; what can not be found out is a finding. */
export async function examine(context: AppContext, waiting: Waiting): Promise<readonly BackendFinding[]> {
  const folders = await orFinding('leftover folders', () => findStrayFolders(context))
  const { name } = context.backend
  if (!context.guard.view.isReady) {
    return [{ what: `${name} server`, level: 'note', detail: 'does not run; the next launch starts it' }, ...folders]
  }
  using limit = deadlineSignal(context.clock, backendLimitMs, 'the findings of the backend', waiting.signal)
  const [backend, panes] = await Promise.all([
    orFinding(`${name} server`, () => context.backend.examine(limit)),
    orFinding('leftover panes', () => findStrayPanes(context, limit)),
  ])
  return [...backend, ...panes, ...folders]
}

async function orFinding(
  what: string,
  find: () => Promise<readonly BackendFinding[]>,
): Promise<readonly BackendFinding[]> {
  try {
    return await find()
  } catch (error) {
    return [{ what, level: 'fail', detail: error instanceof Error ? error.message : String(error) }]
  }
}

/** Panes that carry the tag of a terminal that CAO does not know, or knows to have ended. */
async function findStrayPanes(context: AppContext, waiting: Waiting): Promise<readonly BackendFinding[]> {
  const { backend, store } = context
  const strays = (await backend.list(waiting)).filter(({ terminalId }) => {
    const life = store.terminals.find(terminalId)?.life
    return life === undefined || life === 'deleted' || life === 'lost' || life === 'exited'
  })
  if (strays.length === 0) return [{ what: 'leftover panes', level: 'ok', detail: 'none' }]
  return strays.map(({ terminalId, pane, sessionName, windowName }) => {
    const where = `${pane.paneId} in ${sessionName} (${windowName})`
    const cure = `look at it, and end it by kill-pane -t ${pane.paneId} if nobody needs it`
    const detail = isStray(context, terminalId)
      ? `${where} carries the tag of terminal ${terminalId}, of which there is no row: "cao recover --adopt" takes it in again, or ${cure}`
      : `${where} was terminal ${terminalId}, which CAO has no living record of: ${cure}`
    return { what: 'leftover panes', level: 'note' as const, detail }
  })
}

/** Folders of terminals that CAO does not know. */
async function findStrayFolders({ layout, store }: AppContext): Promise<readonly BackendFinding[]> {
  const names = await readdir(layout.terminalsDir)
  const strays = names.filter((name) => {
    const id = parseTerminalId(name)
    const life = id === undefined ? undefined : store.terminals.find(id)?.life
    return life === undefined || life === 'deleted'
  })
  if (strays.length === 0) return [{ what: 'leftover folders', level: 'ok', detail: 'none' }]
  const shown = strays.slice(0, 10).join(' ')
  const detail = `${strays.length} without a terminal in ${layout.terminalsDir}: ${shown}; remove them when nothing in them is needed`
  return [{ what: 'leftover folders', level: 'note', detail }]
}
