/** What the run has asked of CAO, noted where it is asked: the checker compares it with the records of the others. */

export type SendVia = 'http' | 'agent'
export type Send = {
  readonly marker: string
  readonly via: SendVia
  /** A terminal id, or `chaos` for ourselves. */
  readonly senderId: string
  readonly receiverId: string
  /** CAO said yes. For sends of agents their own record tells, at the end. */
  isAccepted: boolean
  messageId: number | undefined
}

export type AskedJob = {
  readonly marker: string
  readonly kind: 'assign' | 'handoff'
  readonly callerId: string
}

/** The name under which we send. */
export const ourName = 'chaos'

export class Ledger {
  readonly sends: Send[] = []
  readonly jobs: AskedJob[] = []
  /** Times that a send of ours had to be given again, since nobody answered. */
  retryCount = 0
  refusedCount = 0

  note(send: Pick<Send, 'marker' | 'via' | 'senderId' | 'receiverId'>): Send {
    const noted: Send = { ...send, isAccepted: false, messageId: undefined }
    this.sends.push(noted)
    return noted
  }
}
