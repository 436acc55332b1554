/**
 * One attempt to put one message into an agent's composer, with proof. The order is the safety:
 *   look (composer empty?) → lease → `typing` committed → paste → `typed` → our draft seen → settle → Enter
 *   → proof, or one more Enter while our draft is provably still there → proof, or `unconfirmed`.
 * Enter is never pressed on a draft that is not ours, and nothing is ever pasted twice.
 */
import type { Clock } from '../async/clock.ts'
import { sleep, type Waiting } from '../async/wait.ts'
import { isRaw, type Message } from '../domain/message.ts'
import type { Snapshot } from '../screen/snapshot.ts'
import type { Ladder } from './ladder.ts'
import type { Receiver } from './receiver.ts'
import { type DraftOwner, isTooLong, isWholeDraft, ownerOfDraft, toTyped } from './typed-text.ts'

/** Between two looks while something is awaited: what is pasted shows soon, or takes its time. Units: ms. */
const lookGapsMs = { first: 8, last: 60, growth: 2 }
/** For our draft to be seen after the paste; and one second more per 256 KiB, for slow composers. */
const draftLimitMs = 10_000
/** While the program shows nothing of it (a frozen one reads it when it goes on); the queue waits as long. */
export const unseenLimitMs = 100_000
/** For a composer to show that it was cleared. */
const clearLimitMs = 2_000
/** A menu of commands opens while one is typed; before it stands, Enter might choose something else. */
const commandSettleMs = 500
/** For proof after an Enter, before the composer is looked at again. */
export const enterProofMs = 1_500
/** For proof after the last Enter, before the outcome is called unknown. */
export const lateProofMs = 15_000

export type AttemptOutcome =
  | { readonly kind: 'confirmed' }
  /** Nothing was typed: try again when the hold is over. */
  | { readonly kind: 'held'; readonly why: string }
  /** The backend failed at it; nothing of the message is in the terminal. `isPassing`: it may only be silent for a while. */
  | { readonly kind: 'faulted'; readonly why: string; readonly isPassing: boolean }
  /** It ended here; the ladder says how. */
  | { readonly kind: 'ended' }
  /** Its outcome is unknown, and the text may still appear: nothing else may be typed before that is settled. */
  | { readonly kind: 'unseen' }

export type AttemptContext = {
  readonly receiver: Receiver
  readonly ladder: Ladder
  readonly clock: Clock
  readonly waiting: Waiting
  /** Enter may have been pressed already, by a life of ours that ended. */
  readonly mayBeTaken?: boolean
  /** It may be typed while the agent works. */
  readonly isAtWork?: boolean
  /** Texts of ours whose turns were interrupted: a program may have put one of them back into its composer. */
  readonly listInterrupted?: () => readonly string[]
}

export async function attemptDelivery(message: Message, context: AttemptContext): Promise<AttemptOutcome> {
  const { receiver, ladder, waiting } = context
  const typed = toTyped(message, receiver)
  const held = await findHold(typed, context)
  if (held !== undefined) return { kind: 'held', why: held }
  if (typed.trim() === '') {
    ladder.step(message.id, 'refuse', 'nothing is left of the text without its control characters')
    return { kind: 'ended' }
  }
  if (typed.includes('\n') && !receiver.isBracketed) {
    ladder.step(
      message.id,
      'refuse',
      'several lines, and the program has bracketed paste off: each line would be sent alone',
    )
    return { kind: 'ended' }
  }
  if (isTooLong(message, receiver)) await receiver.writeBody(message)
  if (ladder.stepAll(message.id, ['lease', 'begin_typing']) === undefined) return { kind: 'ended' }
  const turnsBefore = receiver.turnsEnded()
  const pasted = await receiver.paste(typed, message.token, waiting)
  if (pasted.kind === 'refused') {
    ladder.step(message.id, 'prove_absent', `the terminal took nothing: ${pasted.reason}`)
    return { kind: 'held', why: `the terminal took nothing: ${pasted.reason}` }
  }
  ladder.step(message.id, 'type')
  return submitDraft(message, typed, turnsBefore, context)
}

/** Why nothing may be typed now; undefined when the composer is empty and free. */
async function findHold(typed: string, context: AttemptContext): Promise<string | undefined> {
  const { receiver, waiting, isAtWork = false, listInterrupted = () => [] } = context
  const seen = await receiver.look(waiting)
  if (seen === 'gone') return 'the pane is gone'
  const gate = receiver.gate()
  if (gate.kind !== 'open' && !(isAtWork && receiver.isBusy())) return gate.why
  if (seen.snapshot.isInputOff) return 'input to the pane is switched off'
  if (seen.reading.dialog !== undefined) return `a ${seen.reading.dialog.reason} dialog is open`
  const owner = ownerOfDraft(seen.reading.composer, typed)
  if (owner === 'absent') return 'the composer is not on the screen'
  if (owner === 'empty') return undefined
  const isRestored = !isAtWork && listInterrupted().some((text) => isWholeDraft(seen.reading.composer, text))
  return isRestored && (await clearRestored(context)) ? undefined : 'somebody has a draft in the composer'
}

/** A prompt of ours that an interrupt gave back: nobody's draft, and nobody would take it away. True when the composer is empty. */
async function clearRestored({ receiver, clock, waiting }: AttemptContext): Promise<boolean> {
  await receiver.press(receiver.quirks.clear, waiting)
  const endMs = clock.monotonicMs() + clearLimitMs
  for (;;) {
    const seen = await receiver.look(waiting)
    if (seen !== 'gone' && seen.reading.composer.kind === 'empty' && receiver.gate().kind === 'open') return true
    if (seen === 'gone' || clock.monotonicMs() > endMs) return false
    await sleep(clock, lookGapsMs.last, waiting.signal)
  }
}

/** From a draft in the composer to its proof. Also the way on after a crash between paste and Enter. */
export async function submitDraft(
  message: Message,
  typed: string,
  turnsBefore: number,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const { receiver, ladder, clock, waiting } = context
  const limitMs = draftLimitMs + Math.ceil(typed.length / (256 * 1024)) * 1_000
  const owner = await awaitDraft(message, typed, limitMs, context)
  if (owner === 'confirmed') return { kind: 'confirmed' }
  if (owner !== 'ours') {
    const why = owner === 'foreign' ? 'the composer holds more than our text' : 'our text was not seen in the composer'
    ladder.step(message.id, 'lapse', `${why}; Enter was not pressed. Look at the pane`)
    return { kind: owner === 'empty' || owner === 'absent' ? 'unseen' : 'ended' }
  }
  for (const isLast of [false, true]) {
    await sleep(clock, settleMsOf(message, receiver), waiting.signal)
    // At work a dialog may come up at any time; its first moment takes no key (`dialogSettleMs`), so that this look is enough.
    // Where one stands before our draft, that gets its Enter when it is seen again.
    if (context.isAtWork === true && (await lookAtDraft(typed, context)) !== 'ours') {
      return submitDraft(message, typed, turnsBefore, context)
    }
    await receiver.press(receiver.quirks.submit, waiting)
    const proven = await awaitProof(message, typed, { limitMs: enterProofMs, turnsBefore }, context)
    if (proven) return { kind: 'confirmed' }
    if (isLast || (await lookAtDraft(typed, context)) !== 'ours') break
  }
  if (await awaitProof(message, typed, { limitMs: lateProofMs, turnsBefore }, context)) return { kind: 'confirmed' }
  const now = await lookAtDraft(typed, context)
  const where = now === 'ours' ? 'our text is still in the composer' : 'the composer no longer shows it'
  ladder.step(message.id, 'lapse', `Enter was pressed and no proof came: ${where}. Look at the pane`)
  return { kind: 'ended' }
}

const settleMsOf = (message: Message, { quirks }: Receiver): number =>
  message.kind === 'command' ? Math.max(commandSettleMs, quirks.settleMs) : quirks.settleMs

async function lookAtDraft(typed: string, { receiver, waiting }: AttemptContext): Promise<DraftOwner | 'gone'> {
  const seen = await receiver.look(waiting)
  return seen === 'gone' ? 'gone' : ownerOfDraft(seen.reading.composer, typed)
}

/** As `lookAtDraft`; where an agent keeps no record, our id in its conversation says that it took the text before. */
export async function lookForDraft(
  message: Message,
  typed: string,
  { receiver, ladder, waiting, mayBeTaken = false }: AttemptContext,
): Promise<DraftOwner | 'gone' | 'confirmed'> {
  const seen = await receiver.look(waiting)
  if (seen === 'gone') return 'gone'
  const owner = ownerOfDraft(seen.reading.composer, typed)
  if (owner !== 'empty' || !mayBeTaken || receiver.hasProofOfBody || !isShown(message, seen.snapshot)) return owner
  const confirmed = ladder.step(message.id, 'confirm', shownProof, { proof: 'screen' })
  return confirmed === undefined ? owner : 'confirmed'
}

const shownProof = 'screen: our id in the conversation'
const isShown = (message: Message, { lines }: Snapshot): boolean =>
  !isRaw(message) && lines.some((line) => line.includes(message.token))

const isTaken = (message: Message): boolean =>
  message.state === 'confirmed' || message.state === 'turn_started' || message.state === 'answered'

async function awaitDraft(
  message: Message,
  typed: string,
  limitMs: number,
  context: AttemptContext,
): Promise<DraftOwner | 'gone' | 'confirmed'> {
  const { ladder, clock, waiting, mayBeTaken = false } = context
  const startMs = clock.monotonicMs()
  // A text that may have been taken before is not waited for as long: it is called unknown, and the queue held.
  const absentLimitMs = mayBeTaken ? limitMs : unseenLimitMs
  for (let gapMs = lookGapsMs.first; ; gapMs = Math.min(gapMs * lookGapsMs.growth, lookGapsMs.last)) {
    const owner = await lookForDraft(message, typed, context)
    if (owner === 'ours' || owner === 'gone' || owner === 'confirmed') return owner
    const now = await ladder.wait(message.id, isTaken, gapMs, waiting.signal)
    if (now !== undefined && isTaken(now)) return 'confirmed'
    waiting.signal.throwIfAborted()
    // What is there and is not ours stays so; where nothing is yet, our text may only be late.
    if (clock.monotonicMs() - startMs > (owner === 'foreign' ? limitMs : absentLimitMs)) return owner
  }
}

/** Proof from the agent's own records (the tracker confirms), or, where it has none, from the screen. */
async function awaitProof(
  message: Message,
  typed: string,
  options: { readonly limitMs: number; readonly turnsBefore: number },
  context: AttemptContext,
): Promise<boolean> {
  const { receiver, ladder, clock, waiting } = context
  const endMs = clock.monotonicMs() + options.limitMs
  for (;;) {
    // Rounded up: a timer may fire a moment early, and a remainder must not become a whole wait.
    const leftMs = Math.ceil(endMs - clock.monotonicMs())
    if (leftMs <= 0) return false
    const isToldByRecord = receiver.hasProofOfBody && message.kind !== 'command'
    const stepMs = isToldByRecord ? leftMs : Math.min(lookGapsMs.last, leftMs)
    const now = await ladder.wait(message.id, isTaken, stepMs, waiting.signal)
    if (now !== undefined && isTaken(now)) return true
    waiting.signal.throwIfAborted()
    if (isToldByRecord) continue
    const seen = await receiver.look(waiting)
    if (seen === 'gone') return false
    const owner = ownerOfDraft(seen.reading.composer, typed)
    if (message.kind === 'command' && owner !== 'ours') {
      // No record tells of a command, and what it does differs: that the program took it off its composer is all there is.
      ladder.step(message.id, 'confirm', 'screen: the command left the composer', { proof: 'screen' })
      return true
    }
    const isGone = owner === 'empty'
    const isWorking = receiver.isBusy() || receiver.turnsEnded() > options.turnsBefore
    const isInConversation = isShown(message, seen.snapshot)
    if (isGone && (isWorking || isInConversation)) {
      const how = isInConversation ? shownProof : 'screen: the draft left and a turn began'
      ladder.step(message.id, 'confirm', how, { proof: 'screen' })
      return true
    }
  }
}
