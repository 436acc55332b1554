/**
 * What an agent's end leaves behind: messages whose turn was cut or that were being typed, and open questions. Each
 * gets its end with the reason, and whoever waits is told; nothing is left to look as if it went on.
 */
import { parseTerminalId, type TerminalId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { bottomLines } from '../screen/snapshot.ts'
import type { AppContext } from './context.ts'
import { queueMessage } from './mailbox.ts'
import { expired } from './open-question.ts'
import type { Runtime } from './runtime.ts'

/** Of the last screen, as much as tells why an agent ended. */
const lastLinesMax = 6
/** Among so many lines, the frames that programs draw included. */
const framedLinesMax = 20
const lineLengthMax = 120
const typingMax = 1_000

/** The last lines that were seen, for a report; empty when nothing was. */
export function lastLinesOf(runtime: Runtime | undefined): readonly string[] {
  const seen = runtime?.watch.lastSeen
  if (seen === undefined) return []
  const lines = bottomLines(seen.snapshot, framedLinesMax).filter((line) => /[\p{L}\p{N}]/u.test(line))
  return lines.slice(-lastLinesMax).map((line) => line.trimEnd().slice(0, lineLengthMax))
}

/** Closes the questions of an agent that has ended. */
export function closeQuestions(context: AppContext, id: TerminalId): void {
  const { store, clock, events } = context
  const closed = store.transaction(() =>
    store.questions.listOpen(id).flatMap(({ id: questionId }) => {
      if (!store.questions.close(questionId, clock.nowMs(), expired)) return []
      const { state, detail } = expired
      const closed = { questionId, terminalId: id, answer: undefined, state, detail }
      const body = { type: 'question.closed', ...closed } as const
      return [store.events.append(body, clock.nowMs())]
    }),
  )
  for (const event of closed) events.announce(event)
}

/** What was being typed when the agent ended: nothing can prove its arrival any more, so its sender is told. */
export function lapseTyping(context: AppContext, id: TerminalId, why: string): void {
  const { store, ladder } = context
  for (const message of store.messages.list(id, { limit: typingMax, states: ['typing', 'typed'] })) {
    ladder.step(message.id, 'lapse', `${why} while it was typed`)
  }
}

/** Tells the senders of messages that were taken and can not be answered any more. Jobs tell their askers themselves. */
export function tellOfCutTurn(context: AppContext, cut: readonly Message[], why: string): void {
  for (const message of cut) {
    if (message.jobId !== undefined || message.kind === 'notice' || message.kind === 'callback') continue
    const receiverId = parseTerminalId(message.senderId)
    if (receiverId === undefined || context.store.terminals.find(receiverId)?.life !== 'live') continue
    const body = `Your message ${message.id} reached ${message.receiverId}, but its turn was cut: ${why}`
    try {
      queueMessage(context, { kind: 'notice', senderId: 'cao', receiverId, body, jobId: undefined })
    } catch (error) {
      context.log.write('warn', 'sender not told', { messageId: message.id, error: String(error) })
    }
  }
}
