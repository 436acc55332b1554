/** What the parts of a job (`jobs.ts`, `job-ends.ts`, `job-news.ts`) need of the other use cases and of the app. */
import type { Waiting } from '../async/wait.ts'
import type { SessionName, TerminalId } from '../domain/ids.ts'
import type { CheckResult, Job } from '../domain/job.ts'
import type { Terminal } from '../domain/terminal.ts'
import type { CreateTerminal, StartJob } from './app.ts'
import type { AppContext } from './context.ts'
import type { CoreContext } from './core-context.ts'
import type { QueueReport } from './job-reports.ts'

export type JobDoors = {
  /** Errors: LIMIT_REACHED, DEFERRED. */
  readonly admit: (sessionName: SessionName, callerId: TerminalId | undefined) => Promise<void>
  /** Starts a worker; `onInserted` is called in the transaction of its row; `isReady` settles when it takes input. */
  readonly startWorker: (
    start: {
      readonly sessionName: SessionName
      readonly request: CreateTerminal
      readonly onInserted: (id: TerminalId) => void
    },
    waiting: Waiting,
  ) => Promise<{ readonly id: TerminalId; readonly isReady: Promise<void> }>
  readonly findIdleWorker: (request: StartJob) => TerminalId | undefined
  readonly queue: QueueReport
  readonly deleteTerminal: (id: TerminalId) => Promise<void>
  /** Stops what the agent is doing and leaves it alive. */
  readonly interrupt: (id: TerminalId) => Promise<void>
  /** Undefined when `signal` aborted. */
  readonly runChecks: (worker: Terminal, job: Job, signal: AbortSignal) => Promise<readonly CheckResult[] | undefined>
  /** The newest answer of a terminal, from its records. Errors: AppError when there is none. */
  readonly readAnswer: (id: TerminalId, waiting: Waiting) => Promise<{ readonly text: string; readonly source: string }>
}

export type JobsContext = CoreContext & Pick<AppContext, 'scope' | 'profiles' | 'runtimes'>
