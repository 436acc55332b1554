/**
 * What a person may want to hear of while they look elsewhere: which events are news, what each says, and how a handful of them
 * looks to a program. Pure; everything that comes from agents is one clean line of bounded length.
 */
import type { DomainEvent } from '../domain/events.ts'
import type { JobId, QuestionId, TerminalId } from '../domain/ids.ts'
import { isNoticeKind, type NoticeKind } from '../domain/notice-kind.ts'

export type Notice = {
  readonly kind: NoticeKind
  readonly seq: number
  readonly atMs: number
  readonly terminalId: TerminalId | undefined
  readonly questionId: QuestionId | undefined
  readonly jobId: JobId | undefined
  readonly options: readonly string[]
  readonly text: string
}

/** What is known of a terminal by its row. */
export type Who = { readonly sessionName: string; readonly profileName: string }
export type Told = Notice & { readonly who: Who | undefined }

/** As JSON on stdin of the command and as the body of the webhook. */
export type NoticePayload = {
  readonly version: 1
  /** The same again is the same telling: it may come twice when the server died in between. */
  readonly id: string
  readonly type: 'notices' | 'digest' | 'test'
  readonly at: string
  readonly title: string
  readonly text: string
  readonly notices: readonly {
    readonly kind: NoticeKind
    readonly seq: number
    readonly at: string
    readonly terminal_id: string | null
    readonly session_name: string | null
    readonly agent_profile: string | null
    readonly question_id: string | null
    readonly options: readonly string[]
    readonly text: string
  }[]
  /** How many there are beyond those. */
  readonly more: number
  /** True: events are missing that were kept no longer. */
  readonly gap: boolean
}

export const noticesMax = 50
const linesMax = 10
const textLengthMax = 500
const optionsMax = 20

/** Undefined: no news for a person. */
export function toNotice(event: DomainEvent): Notice | undefined {
  const { seq, atMs } = event
  const about = (kind: NoticeKind, text: string, more: Partial<Notice> = {}): Notice => {
    const terminalId = 'terminalId' in event ? event.terminalId : undefined
    return {
      kind,
      seq,
      atMs,
      terminalId,
      questionId: undefined,
      jobId: undefined,
      options: [],
      text: cleanNotice(text),
      ...more,
    }
  }
  switch (event.type) {
    case 'question.opened': {
      const options = event.options.slice(0, optionsMax).map(cleanNotice)
      return about('question', event.text, { questionId: event.questionId, options })
    }
    case 'terminal.status_changed':
      if (!isStuck(event.reason)) return undefined
      return about('stuck', `${stuckWords[event.reason]}${event.detail === undefined ? '' : `: ${event.detail}`}`)
    case 'terminal.life_changed':
      if (event.to === 'exited') return about('ended', event.detail ?? 'its program has ended')
      return event.to === 'lost' ? about('lost', event.detail ?? 'its pane is gone') : undefined
    case 'backend.lost':
      return about('lost', `${event.backend} is gone with ${event.terminalCount} agents: ${event.reason}`)
    case 'job.state_changed':
      if (event.to === 'created' || event.to === 'running') return undefined
      return about(
        'finished',
        event.to === 'answered' ? 'its task is done' : `its task has ended: ${event.detail ?? event.to}`,
        {
          terminalId: event.workerId,
          jobId: event.jobId,
        },
      )
    case 'worktree.kept':
      return about('worktree', `its worktree was kept (${event.detail}): ${event.path}, branch ${event.branch}`)
    case 'loop.stopped':
      return about(
        'stuck',
        `${event.senderId} and others woke each other ${event.hops} times in a row; the next message was refused`,
      )
    case 'session.created':
    case 'session.deleted':
    case 'terminal.created':
    case 'message.queued':
    case 'message.state_changed':
    case 'message.dropped':
    case 'job.created':
    case 'question.closed':
    case 'backend.ready':
    case 'recovery.finished':
    case 'worktree.created':
    case 'worktree.removed':
    case 'worktree.missing':
    case 'notify.failed':
    case 'person.typed':
    case 'turn.interrupted':
    case 'terminal.held':
    case 'terminal.released':
      return undefined
  }
}

const stuckWords = {
  hung: 'it shows no progress',
  api_error: 'its model could not be reached',
  rate_limited: 'it has used up its limit',
} as const
type StuckReason = keyof typeof stuckWords
export const isStuck = (reason: string): reason is StuckReason => Object.hasOwn(stuckWords, reason)

/** It tells of a status, which may have passed. */
export const isStuckText = (text: string): boolean => Object.values(stuckWords).some((words) => text.startsWith(words))

/** One line without control characters, of bounded length. */
export function cleanNotice(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return line.length <= textLengthMax ? line : `${line.slice(0, textLengthMax - 1)}…`
}

export const parseKinds = (words: readonly string[]): ReadonlySet<NoticeKind> => new Set(words.filter(isNoticeKind))

const verbs: Readonly<Record<NoticeKind, string>> = {
  question: 'asks',
  stuck: 'is stuck',
  ended: 'has ended',
  lost: 'is lost',
  finished: 'is done',
  worktree: 'left work',
}

function nameOf({ terminalId, who }: Told): string {
  if (terminalId === undefined) return 'CAO'
  return who === undefined ? terminalId : `${who.profileName} ${terminalId}`
}

export type Telling = {
  readonly notices: readonly Told[]
  readonly type: NoticePayload['type']
  readonly nowMs: number
  readonly isGap: boolean
}

export function formatPayload({ notices, type, nowMs, isGap }: Telling): NoticePayload {
  const shown = notices.slice(0, noticesMax)
  const [first] = shown
  const one = first === undefined ? 'nothing to tell' : `${nameOf(first)} ${verbs[first.kind]}`
  const lines = shown.slice(0, linesMax).map((notice) => `${nameOf(notice)} ${verbs[notice.kind]}: ${notice.text}`)
  const left = notices.length - lines.length
  const gap = isGap ? ['older events are kept no longer; "cao ls" shows how things stand'] : []
  return {
    version: 1,
    id: `${first?.seq ?? 0}-${notices.at(-1)?.seq ?? 0}`,
    type,
    at: new Date(nowMs).toISOString(),
    title: `CAO: ${notices.length <= 1 ? one : `${notices.length} notices`}`,
    text: [...lines, ...(left > 0 ? [`and ${left} more; "cao ls" shows all`] : []), ...gap].join('\n'),
    notices: shown.map(({ who, ...notice }) => ({
      kind: notice.kind,
      seq: notice.seq,
      at: new Date(notice.atMs).toISOString(),
      terminal_id: notice.terminalId ?? null,
      session_name: who?.sessionName ?? null,
      agent_profile: who?.profileName ?? null,
      question_id: notice.questionId ?? null,
      options: notice.options,
      text: notice.text,
    })),
    more: notices.length - shown.length,
    gap: isGap,
  }
}

export function testPayload(nowMs: number): NoticePayload {
  const payload = formatPayload({ notices: [], type: 'test', nowMs, isGap: false })
  return { ...payload, id: 'test', title: 'CAO: a test', text: 'This is what CAO sounds like when an agent needs you.' }
}
