/**
 * Which web pages may talk to the server: pure rules on headers. A foreign name in `Host` is a DNS rebinding attack; a foreign
 * `Origin` on a request that changes something is a page that is not ours; so is what the browser itself calls cross-site.
 */
const loopbackNames = ['localhost', '127.0.0.1', '[::1]']
const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export type OriginRules = {
  /** Host names beside the loopback's own; `*` allows all. */
  readonly hosts: readonly string[]
  /** Whole origins, such as `http://localhost:5173`; `*` allows all. */
  readonly origins: readonly string[]
}

export function isHostAllowed(host: string | undefined, { hosts }: OriginRules): boolean {
  if (hosts.includes('*')) return true
  const name = hostName(host ?? '')
  return name !== undefined && [...loopbackNames, ...hosts.map((allowed) => allowed.toLowerCase())].includes(name)
}

/** A missing Origin is not a browser. A malformed one, and `null`, are foreign. */
export function isOriginAllowed(
  request: { readonly method: string; readonly origin: string | undefined; readonly host: string | undefined },
  { origins }: OriginRules,
): boolean {
  if (!changing.has(request.method) || request.origin === undefined) return true
  if (origins.includes('*') || origins.includes(request.origin)) return true
  const authority = /^https?:\/\/([^/?#@\s]+)$/i.exec(request.origin)?.[1]
  return authority !== undefined && authority.toLowerCase() === request.host?.toLowerCase()
}

/** What a browser says of a request. Source: Fetch Metadata Request Headers (W3C). */
export type PageRequest = {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`, `-Mode` and `-Dest`. */
  readonly site: string | undefined
  readonly mode: string | undefined
  readonly destination: string | undefined
}

/**
 * A page of somebody else asks. Pages on other ports of this machine are same-site, and foreign all the same. A link that a
 * person follows is let through: it changes nothing, and the page with the link sees nothing.
 */
export function isForeignPage({ site, mode, destination, ...request }: PageRequest, rules: OriginRules): boolean {
  if (!isOriginAllowed(request, rules)) return true
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  if (mode === 'navigate' && destination === 'document' && !changing.has(request.method)) return false
  return request.origin === undefined || !isOriginAllowed({ ...request, method: 'POST' }, rules)
}

/** The name without its port, lower case; undefined when it is no host at all. */
function hostName(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/.exec(host.toLowerCase())?.[1]
}
