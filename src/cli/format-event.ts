/**
 * One event as one sentence for a person. Everything that comes from outside is cleaned. Pure.
 * `label` names an agent: its id alone, or with the profile where the reader knows it.
 */
import { unreachable } from '../lib/assert.ts'
import type { EventBody } from '../protocol/event.ts'
import { cleanLine } from './clean-text.ts'

export type Label = (terminalId: string) => string

export const plainLabel: Label = (terminalId) => terminalId

/** Fields without a value may be null, or not there at all (an event of an older server). */
type Optional = string | null | undefined

const because = (text: Optional, before = ': '): string =>
  (text ?? '') === '' ? '' : `${before}${cleanLine(text ?? '')}`

const labelled = (terminalId: Optional, before: string, label: Label): string =>
  (terminalId ?? '') === '' ? '' : `${before}${label(terminalId ?? '')}`

export function formatEvent(event: EventBody, label: Label = plainLabel): string {
  switch (event.type) {
    case 'session.created':
      return `session ${event.session_name} was created`
    case 'session.deleted':
      return `session ${event.session_name} was ended`
    case 'terminal.created': {
      const who = labelled(event.caller_id, ', called by ', label)
      const what = `${cleanLine(event.profile_name)} (${event.provider})`
      return `${label(event.terminal_id)} was started: ${what} in ${event.session_name}${who}`
    }
    case 'terminal.life_changed':
      return `${label(event.terminal_id)} is ${event.to} (was ${event.from})${because(event.detail)}`
    case 'terminal.status_changed': {
      return `${label(event.terminal_id)} is ${event.to} (${event.reason})${because(event.detail)}${because(event.because, '; ')}`
    }
    case 'message.queued':
      return `message ${event.message_id} (${event.kind}) from ${nameSender(event.sender_id, label)} waits for ${label(event.receiver_id)}`
    case 'message.state_changed':
      return `message ${event.message_id} (${event.kind}) to ${label(event.receiver_id)} is ${event.to}${because(event.detail)}`
    case 'message.dropped':
      return `message ${event.message_id} (${event.kind}) to ${label(event.receiver_id)} was dropped by ${nameSender(event.by, label)}`
    case 'job.created': {
      const who = labelled(event.caller_id, '', label) || 'a person'
      return `${event.job_id} (${event.kind}) was asked for by ${who}: ${cleanLine(event.profile_name)}`
    }
    case 'job.state_changed': {
      const worker = labelled(event.worker_id, ' with ', label)
      return `${event.job_id} (${event.kind})${worker} is ${event.to}${because(event.detail)}`
    }
    case 'question.opened': {
      const options = event.options.length === 0 ? '' : ` [${event.options.map(cleanLine).join(' | ')}]`
      return `${label(event.terminal_id)} asks (${event.question_id}): ${cleanLine(event.text)}${options}`
    }
    case 'question.closed':
      return `question ${event.question_id} of ${label(event.terminal_id)} is ${event.state ?? 'closed'}${because(event.by, ' by ')}${because(event.answer)}${because(event.detail)}`
    case 'backend.ready':
      return `${event.backend} is ready (${event.instance_id})`
    case 'backend.lost':
      return `${event.backend} is gone with ${event.terminal_count} agent${event.terminal_count === 1 ? '' : 's'}: ${cleanLine(event.reason)}`
    case 'worktree.created':
      return `${label(event.terminal_id)} has a worktree: ${cleanLine(event.path)}, branch ${cleanLine(event.branch)}`
    case 'worktree.removed':
      return `the worktree of ${label(event.terminal_id)} was removed with its branch ${cleanLine(event.branch)}`
    case 'worktree.kept':
      return `the worktree of ${label(event.terminal_id)} was kept (${cleanLine(event.detail)}): ${cleanLine(event.path)}, branch ${cleanLine(event.branch)}`
    case 'worktree.missing':
      return `the worktree of ${label(event.terminal_id)} is no longer there: ${cleanLine(event.path)}; its branch is ${cleanLine(event.branch)}`
    case 'notify.failed':
      return `you could not be told of ${event.count} things by the ${cleanLine(event.channel)}: ${cleanLine(event.detail)}`
    case 'person.typed': {
      const who = event.clients.length === 0 ? '' : `, perhaps from ${event.clients.map(cleanLine).join(', ')}`
      return `${label(event.terminal_id)} took ${event.chars} characters that CAO did not type${who}`
    }
    case 'turn.interrupted':
      return `the turn of ${label(event.terminal_id)} was interrupted${because(event.by, ' by ')}${because(event.detail)}`
    case 'terminal.held':
      return `the queue of ${label(event.terminal_id)} is held by ${cleanLine(event.by)}${because(event.detail)}`
    case 'terminal.released':
      return `the queue of ${label(event.terminal_id)} goes on, released by ${cleanLine(event.by)}`
    case 'loop.stopped':
      return `${label(event.sender_id)} and others sent each other ${event.hops} messages in a row; its next one to ${label(event.terminal_id)} was refused`
    case 'recovery.finished':
      return `after ${event.took_ms} ms all agents are known again: ${event.adopted} adopted, ${event.lost} lost, ${event.failed} failed`
    default:
      return unreachable(event)
  }
}

const isTerminalId = (text: string): boolean => /^[a-f0-9]{8}$/.test(text)
const nameSender = (senderId: string, label: Label): string =>
  isTerminalId(senderId) ? label(senderId) : cleanLine(senderId)
