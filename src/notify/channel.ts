/** One way to reach a person. A channel tries once; `notifier.ts` tries again. */
import type { Waiting } from '../async/wait.ts'
import type { NoticePayload } from './notice.ts'

export type ToldOutcome =
  | { readonly kind: 'told'; readonly detail: string }
  /** `isFinal`: trying again would not help. */
  | { readonly kind: 'failed'; readonly why: string; readonly isFinal: boolean }

export interface Channel {
  /** `command` or `webhook`; names its place in the store, too. */
  readonly name: string
  /** Errors: the signal's reason. Ends within the channel's own deadline. */
  tell(payload: NoticePayload, waiting: Waiting): Promise<ToldOutcome>
}
