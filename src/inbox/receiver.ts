/** What a delivery needs of the terminal that it delivers to. `app/` provides it; nothing here knows tmux. */
import type { Waiting } from '../async/wait.ts'
import type { InputOutcome } from '../backend/backend.ts'
import type { MessageToken, TerminalId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { Key, Quirks, ScreenReading } from '../providers/provider.ts'
import type { Snapshot } from '../screen/snapshot.ts'

/** Whether the keyboard is free: `held` passes by itself, `ended` does not. */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'held'; readonly why: string }
  | { readonly kind: 'ended'; readonly why: string }

export interface Receiver {
  readonly id: TerminalId
  readonly quirks: Quirks
  /** The agent's own records tell what it accepted. */
  readonly hasProofOfBody: boolean
  readonly isBracketed: boolean
  gate(): Gate
  isBusy(): boolean
  /** Turns ended so far: tells a new turn from an old one. */
  turnsEnded(): number
  look(waiting: Waiting): Promise<{ readonly snapshot: Snapshot; readonly reading: ScreenReading } | 'gone'>
  /** `mark` is left at the terminal in the same step, and survives us: after a crash it tells whether the paste happened. */
  paste(text: string, mark: string, waiting: Waiting): Promise<InputOutcome>
  /** The mark of the last paste that reached the terminal; undefined when there was none. */
  lastPasteMark(waiting: Waiting): Promise<string | undefined>
  /** Where the body of a message stands that is too long to be typed: a file in the agent's own folder, removed with it. */
  bodyFile(message: Message): string
  /** Writes it there, for the agent alone; again is harmless. */
  writeBody(message: Message): Promise<void>
  press(keys: readonly Key[], waiting: Waiting): Promise<InputOutcome>
  findAccepted(token: MessageToken, waiting: Waiting): Promise<'yes' | 'no' | 'unknown'>
}
