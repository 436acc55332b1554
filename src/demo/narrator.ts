/**
 * Tells the demo as it happens: picks from the events what a person wants to know, and says it in one sentence each.
 * Pure but for what it remembers about who is who.
 */
import { cleanLine } from '../cli/clean-text.ts'
import { formatEvent } from '../cli/format-event.ts'
import type { EventBody } from '../protocol/event.ts'

type Agent = { readonly profile: string; readonly provider: string; pane: string | undefined; wasReady: boolean }
type MessageStateChange = EventBody & { readonly type: 'message.state_changed' }

export class Narrator {
  readonly #agents = new Map<string, Agent>()

  /** Who this is, for every later sentence. `pane` is where a person finds it. */
  setPane(terminalId: string, pane: string): void {
    const agent = this.#agents.get(terminalId)
    if (agent !== undefined) agent.pane = pane
  }

  readonly label = (terminalId: string): string => {
    const agent = this.#agents.get(terminalId)
    return agent === undefined ? terminalId : `${agent.profile} ${terminalId}`
  }

  /** The sentence, or undefined when this event is nothing to tell. */
  tell(event: EventBody): string | undefined {
    switch (event.type) {
      case 'terminal.created':
        this.#agents.set(event.terminal_id, {
          profile: cleanLine(event.profile_name),
          provider: event.provider,
          pane: undefined,
          wasReady: false,
        })
        return undefined
      case 'terminal.life_changed':
        return this.#tellLife(event)
      case 'terminal.status_changed':
        return this.#tellStatus(event)
      case 'job.created': {
        const who = this.label(event.caller_id ?? 'somebody')
        const how = event.kind === 'handoff' ? 'hands a task off to, and waits for,' : 'assigns a task to'
        return `${who} ${how} a ${cleanLine(event.profile_name)}`
      }
      case 'job.state_changed':
        return this.#tellJob(event)
      case 'message.state_changed':
        return this.#tellMessage(event)
      // Nobody should miss these.
      case 'backend.lost':
      case 'question.opened':
      case 'question.closed':
      case 'worktree.kept':
      case 'worktree.missing':
      case 'notify.failed':
      case 'turn.interrupted':
      case 'terminal.held':
      case 'terminal.released':
      case 'loop.stopped':
        return formatEvent(event, this.label)
      case 'session.created':
      case 'session.deleted':
      case 'message.queued':
      case 'message.dropped':
      case 'backend.ready':
      case 'recovery.finished':
      case 'worktree.created':
      case 'worktree.removed':
      case 'person.typed':
        return undefined
    }
  }

  #tellLife(event: EventBody & { readonly type: 'terminal.life_changed' }): string | undefined {
    const label = this.label(event.terminal_id)
    const agent = this.#agents.get(event.terminal_id)
    if (event.to === 'live') return `${label} (${agent?.provider ?? '?'}) was started in pane ${agent?.pane ?? '?'}`
    if (event.to === 'deleted') return `${label} was ended, its task is done`
    if (event.to === 'exited' || event.to === 'lost') return formatEvent(event, this.label)
    return undefined
  }

  #tellStatus(event: EventBody & { readonly type: 'terminal.status_changed' }): string | undefined {
    const agent = this.#agents.get(event.terminal_id)
    const why = (event.because ?? '') === '' ? '' : ` (${cleanLine(event.because ?? '')})`
    if (event.to === 'idle' && agent?.wasReady === false) {
      agent.wasReady = true
      return `${this.label(event.terminal_id)} is ready${why}`
    }
    const isBad = event.to === 'error' || event.to === 'waiting_user_answer'
    return isBad ? formatEvent(event, this.label) : undefined
  }

  #tellJob(event: EventBody & { readonly type: 'job.state_changed' }): string | undefined {
    const worker = this.label(event.worker_id ?? 'nobody')
    if (event.to === 'answered') return `${worker} has answered`
    if (event.to === 'running') return undefined
    return formatEvent(event, this.label)
  }

  #tellMessage(event: MessageStateChange): string | undefined {
    const what = this.#describeMessage(event)
    if (event.to === 'typed') return `${what} was typed into ${this.label(event.receiver_id)}`
    if (event.to === 'confirmed') {
      return `${what} has arrived; proof: ${cleanLine(event.detail ?? 'not told')}`
    }
    const isBad = ['refused', 'unconfirmed', 'expired', 'undeliverable'].includes(event.to)
    return isBad ? formatEvent(event, this.label) : undefined
  }

  #describeMessage({ message_id, kind, sender_id }: MessageStateChange): string {
    const from = this.label(sender_id)
    if (kind === 'callback') return `the answer of ${from} (message ${message_id})`
    if (kind === 'input') return `your message (${message_id})`
    return `the task of ${from} (message ${message_id})`
  }
}
