/**
 * A person's own URL: https, or http on this machine. One POST of the notices as JSON; redirects are not followed, the answer's
 * body is not read. The URL may hold a secret and is never logged, nor is the secret of the header.
 */
import { type Clock } from '../async/clock.ts'
import { DeadlineError, deadlineSignal } from '../async/wait.ts'
import type { Channel, ToldOutcome } from './channel.ts'

export const webhookLimitMs = 15_000

export type WebhookOptions = {
  readonly clock: Clock
  readonly url: string
  /** Sent as `Authorization: Bearer SECRET`; read anew for each call. Undefined: no header. Errors: a sentence. */
  readonly readSecret: (() => Promise<string>) | undefined
  readonly timeoutMs?: number
}

/** The URL if it may be called; else why not. Pure. */
export function checkWebhookUrl(text: string): { readonly url: URL } | { readonly why: string } {
  if (!URL.canParse(text)) return { why: 'it is no URL' }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return { why: 'a name or password in it would be logged elsewhere' }
  const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return { url }
  return { why: 'only https is called, and http on this machine' }
}

export function createWebhookChannel(options: WebhookOptions): Channel {
  const { clock, url, readSecret, timeoutMs = webhookLimitMs } = options
  return {
    name: 'webhook',
    async tell(payload, { signal }) {
      using limit = deadlineSignal(clock, timeoutMs, 'the webhook to answer', signal)
      try {
        const secret = await readSecret?.()
        const answer = await fetch(url, {
          method: 'POST',
          redirect: 'manual',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'cao-notify',
            ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
          },
          body: JSON.stringify(payload),
          signal: limit.signal,
        })
        await answer.body?.cancel()
        return judge(answer.status)
      } catch (error) {
        if (signal.aborted) throw error
        return { kind: 'failed', why: describe(error), isFinal: false }
      }
    },
  }
}

function judge(status: number): ToldOutcome {
  if (status >= 200 && status < 300) return { kind: 'told', detail: `it answered ${status}` }
  if (status >= 300 && status < 400) {
    return { kind: 'failed', why: `it answered ${status}, and a redirect is not followed`, isFinal: true }
  }
  const mayPass = status >= 500 || status === 408 || status === 429
  return { kind: 'failed', why: `it answered ${status}`, isFinal: !mayPass }
}

/** fetch's own words name no URL; its cause says what happened. */
function describe(error: unknown): string {
  if (error instanceof DeadlineError) return `it did not answer within ${error.afterMs / 1_000} s`
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  return code ?? (cause instanceof Error ? cause.message : String(cause))
}
