/** Starts an agent in a session that exists or comes into being, and tells apart "started" from "ready". */
import type { Waiting } from '../async/wait.ts'
import type { SessionName, TerminalId } from '../domain/ids.ts'
import { admit } from './admission.ts'
import type { CreateTerminal } from './app.ts'
import type { AppContext } from './context.ts'
import { launchTerminal } from './launch-terminal.ts'
import { resolveLaunch } from './resolve-launch.ts'
import type { RuntimeListeners } from './runtime.ts'
import { closeIfEmpty, openSession } from './sessions.ts'
import { requireReady } from './start-agent.ts'

export type StartWorker = {
  readonly sessionName: SessionName
  /** The session must not be there yet. */
  readonly isNewSession?: boolean
  readonly request: CreateTerminal
  readonly listeners: RuntimeListeners
  /** Whoever asked has passed the gate already. */
  readonly isAdmitted?: boolean
  readonly onInserted?: (id: TerminalId) => void
}

export type StartedWorker = {
  readonly id: TerminalId
  /** Settles when the agent takes input; rejects with LAUNCH_FAILED after everything was taken back. */
  readonly isReady: Promise<void>
}

/** Returns as soon as the agent's program runs. Errors: as `admit`, `resolveLaunch` and `launchTerminal`; nothing is left then. */
export async function startWorker(context: AppContext, options: StartWorker, waiting: Waiting): Promise<StartedWorker> {
  const { sessionName, request, listeners, onInserted } = options
  if (options.isAdmitted !== true) await admit(context, { sessionName, callerId: request.callerId })
  const resolved = await resolveLaunch(context, request)
  if (options.isNewSession === true) openSession(context, sessionName, resolved.cwd)
  try {
    const { runtime, undo } = await launchTerminal(
      context,
      { sessionName, request, resolved, listeners, onInserted },
      waiting,
    )
    const isReady = (async () => {
      try {
        await requireReady(context, runtime, resolved, { signal: context.scope.signal })
      } catch (error) {
        // The server closing is no failed launch: the agent goes on and is adopted at the next start.
        if (context.scope.signal.aborted) throw error
        await undo.disposeAsync()
        closeIfEmpty(context, sessionName)
        throw error
      }
    })()
    // Whoever does not wait must not crash the process; the failure shows in the terminal's end.
    isReady.catch((error: unknown) =>
      context.log.write('warn', 'launch failed', { terminalId: runtime.row.id, error: String(error) }),
    )
    return { id: runtime.row.id, isReady }
  } catch (error) {
    closeIfEmpty(context, sessionName)
    throw error
  }
}
