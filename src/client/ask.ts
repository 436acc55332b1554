/** How the methods of the client speak: one verb per HTTP method and patience. */
import type { Call, Transport } from './transport.ts'

/** `timeoutMs` replaces the default of the call. */
export type CallOptions = { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined }
export type Extra = Pick<Call, 'query' | 'body'>
export type Verb = <T>(path: string, extra?: Extra, how?: CallOptions) => Promise<T>
export type Verbs = Readonly<Record<'get' | 'post' | 'put' | 'patch' | 'slowGet' | 'slowPost' | 'slowDelete', Verb>>

/** Calls that the server answers from memory. Units: ms. */
export const quickTimeoutMs = 30_000
/** Calls that start, ask or end agents. Units: ms. */
export const slowTimeoutMs = 300_000
/** What a held request may take beyond its own wait. Units: ms. */
export const holdMarginMs = 15_000

export function createVerbs(transport: Transport): Verbs {
  const verb =
    (method: Call['method'], defaultMs: number): Verb =>
    async <T>(path: string, extra: Extra = {}, { signal, timeoutMs = defaultMs }: CallOptions = {}) =>
      (await transport.call({ method, path, ...extra, signal, timeoutMs })) as T
  return {
    get: verb('GET', quickTimeoutMs),
    post: verb('POST', quickTimeoutMs),
    put: verb('PUT', quickTimeoutMs),
    patch: verb('PATCH', quickTimeoutMs),
    slowGet: verb('GET', slowTimeoutMs),
    slowPost: verb('POST', slowTimeoutMs),
    slowDelete: verb('DELETE', slowTimeoutMs),
  }
}
