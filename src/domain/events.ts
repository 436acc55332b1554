/**
 * Everything CAO tells, as one union. Events tell, rows are the truth: a reader that lost some reloads.
 * `seq` is gap-free and grows by one; adding a type is free, changing a meaning needs a new type.
 */
import type { DeliveryState } from './delivery.ts'
import type { JobId, MessageId, QuestionId, SessionName, TerminalId } from './ids.ts'
import type { JobKind, JobState } from './job.ts'
import type { MessageKind } from './message.ts'
import type { QuestionState } from './question.ts'
import type { EvidenceSource, Operation, Status, StatusReason } from './status.ts'
import type { Life } from './terminal.ts'

export type DomainEventBody =
  | { readonly type: 'session.created'; readonly sessionName: SessionName }
  | { readonly type: 'session.deleted'; readonly sessionName: SessionName }
  | {
      readonly type: 'terminal.created'
      readonly terminalId: TerminalId
      readonly sessionName: SessionName
      readonly provider: string
      readonly profileName: string
      readonly callerId: TerminalId | undefined
    }
  | {
      readonly type: 'terminal.life_changed'
      readonly terminalId: TerminalId
      readonly from: Life
      readonly to: Life
      readonly detail: string | undefined
    }
  | {
      readonly type: 'terminal.status_changed'
      readonly terminalId: TerminalId
      readonly from: Status
      readonly to: Status
      readonly reason: StatusReason
      readonly detail: string | undefined
      readonly because: string | undefined
    }
  | {
      readonly type: 'message.queued'
      readonly messageId: MessageId
      readonly kind: MessageKind
      readonly senderId: string
      readonly receiverId: TerminalId
      readonly author?: string | undefined
      /** The message that is sent again by it. */
      readonly resendOf: MessageId | undefined
    }
  | {
      readonly type: 'message.state_changed'
      readonly messageId: MessageId
      readonly receiverId: TerminalId
      readonly senderId: string
      readonly kind: MessageKind
      readonly from: DeliveryState
      readonly to: DeliveryState
      readonly detail: string | undefined
      /** What shows that the agent took it; from `confirmed` on. */
      readonly proof: EvidenceSource | undefined
    }
  | {
      readonly type: 'message.dropped'
      readonly messageId: MessageId
      readonly receiverId: TerminalId
      readonly senderId: string
      readonly kind: MessageKind
      /** Who put it away. */
      readonly by: string
    }
  | {
      readonly type: 'job.created'
      readonly jobId: JobId
      readonly kind: JobKind
      readonly callerId: TerminalId | undefined
      readonly profileName: string
    }
  | {
      readonly type: 'job.state_changed'
      readonly jobId: JobId
      readonly kind: JobKind
      readonly workerId: TerminalId | undefined
      readonly from: JobState
      readonly to: JobState
      readonly detail: string | undefined
    }
  | {
      readonly type: 'question.opened'
      readonly questionId: QuestionId
      readonly terminalId: TerminalId
      readonly text: string
      readonly options: readonly string[]
      readonly operation?: Operation | undefined
    }
  | {
      readonly type: 'question.closed'
      readonly questionId: QuestionId
      readonly terminalId: TerminalId
      readonly answer: string | undefined
      /** Absent in events of an older CAO. */
      readonly state?: Exclude<QuestionState, 'open'>
      readonly by?: string | undefined
      readonly detail?: string | undefined
    }
  | {
      /** A text that CAO did not type was taken by an agent. */
      readonly type: 'person.typed'
      readonly terminalId: TerminalId
      /** Names of the clients that look at its session and were used since its last turn began; none: nobody is known. */
      readonly clients: readonly string[]
      readonly chars: number
    }
  | {
      readonly type: 'turn.interrupted'
      readonly terminalId: TerminalId
      /** As the author of a message; undefined: not through CAO, or not known. */
      readonly by: string | undefined
      readonly detail: string
    }
  | {
      readonly type: 'terminal.held'
      readonly terminalId: TerminalId
      readonly by: string
      readonly detail: string
    }
  | { readonly type: 'terminal.released'; readonly terminalId: TerminalId; readonly by: string }
  | {
      /** Messages that agents send each other without a person or a job in between came to their limit. */
      readonly type: 'loop.stopped'
      readonly terminalId: TerminalId
      readonly senderId: TerminalId
      readonly hops: number
    }
  | { readonly type: 'backend.ready'; readonly backend: string; readonly instanceId: string }
  | {
      readonly type: 'backend.lost'
      readonly backend: string
      readonly instanceId: string
      readonly reason: string
      readonly terminalCount: number
    }
  | {
      readonly type: 'worktree.created'
      readonly terminalId: TerminalId
      readonly path: string
      readonly branch: string
    }
  | {
      readonly type: 'worktree.removed'
      readonly terminalId: TerminalId
      readonly path: string
      readonly branch: string
    }
  | {
      readonly type: 'worktree.kept'
      readonly terminalId: TerminalId
      readonly path: string
      readonly branch: string
      readonly changedFiles: number
      readonly commitsAhead: number
      readonly detail: string
    }
  | {
      readonly type: 'worktree.missing'
      readonly terminalId: TerminalId
      readonly path: string
      readonly branch: string
    }
  | {
      readonly type: 'notify.failed'
      readonly channel: string
      readonly count: number
      readonly detail: string
    }
  | {
      readonly type: 'recovery.finished'
      readonly adopted: number
      readonly lost: number
      readonly failed: number
      readonly tookMs: number
    }

export type DomainEvent = DomainEventBody & { readonly seq: number; readonly atMs: number }
export type DomainEventType = DomainEvent['type']

export const eventTypes = [
  'session.created',
  'session.deleted',
  'terminal.created',
  'terminal.life_changed',
  'terminal.status_changed',
  'message.queued',
  'message.state_changed',
  'job.created',
  'job.state_changed',
  'question.opened',
  'question.closed',
  'backend.ready',
  'backend.lost',
  'recovery.finished',
  'worktree.created',
  'worktree.removed',
  'worktree.kept',
  'worktree.missing',
  'notify.failed',
  'message.dropped',
  'person.typed',
  'turn.interrupted',
  'terminal.held',
  'terminal.released',
  'loop.stopped',
] as const satisfies readonly DomainEventType[]
