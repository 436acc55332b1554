/**
 * A text that was pasted and that the program never showed: it is frozen, or it dropped the text. While that is open,
 * nothing else may be typed, for the program would read both as one draft. It is over when the text appears, or when the
 * program shows that it has gone on without it.
 */
import type { Message } from '../domain/message.ts'
import { type AttemptContext, lookForDraft } from './attempt.ts'

export type Unseen = {
  readonly message: Message
  /** Turns ended before it was pasted. */
  readonly turns: number
  /** When it was given up. */
  readonly atMs: number
}

/** `over`: the program has read something else since, so the text will not come any more. */
export async function isStillUnseen(
  { message, turns }: Unseen,
  typed: string,
  context: AttemptContext,
): Promise<'appeared' | 'unseen' | 'over'> {
  const { receiver } = context
  const owner = await lookForDraft(message, typed, { ...context, mayBeTaken: true })
  if (owner === 'ours') return 'appeared'
  if (owner === 'confirmed') return 'over'
  const hasReacted = owner === 'foreign' || receiver.isBusy() || receiver.turnsEnded() !== turns
  return hasReacted ? 'over' : 'unseen'
}
