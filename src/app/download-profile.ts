/**
 * Fetches the text of a profile from the web, for a person who installs it, and nothing else from anywhere else.
 *
 * The server asks on behalf of whoever names the address, so that it must not become a way into the network around it: https
 * only, hosts of a list, no redirect followed, nothing in the address but a plain path to a `.md`, and an address that is not
 * of the public Internet (loopback, private, link-local, …) only where the list names that very address. A name is
 * resolved once and the connection goes to what was checked. Size and time are limited.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { Clock } from '../async/clock.ts'
import { DeadlineError, deadlineSignal, type Waiting } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { profileNamePattern } from '../domain/profile.ts'
import { decodeProfile, profileBytesMax } from './profile-files.ts'

/** For the whole of it, resolving included. Units: ms. */
export const downloadLimitMs = 30_000
/** As upstream has it: each part begins with a letter, a digit or "_", so that none is "..". */
const pathPattern = /^(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)+\.md$/

export type DownloadOptions = {
  readonly clock: Clock
  /** `HOST`, `HOST:PORT`, or the address of a host that is not public. */
  readonly allowedHosts: readonly string[]
  /** Certificates, PEM, that are trusted beside the usual ones' place. Undefined: the usual ones. */
  readonly ca: string | undefined
  /** All addresses of a name. Undefined: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  readonly limitMs?: number
}

export type DownloadedProfile = { readonly name: string; readonly text: string }
export type ProfileDownload = (url: string, waiting: Waiting) => Promise<DownloadedProfile>

/** Errors: BAD_REQUEST (what is not allowed, and what went wrong on the way), PROFILE_INVALID (too large, no UTF-8). */
export function createProfileDownload(options: DownloadOptions): ProfileDownload {
  return async (url, waiting) => {
    const place = parseProfileUrl(url, options.allowedHosts)
    const limitMs = options.limitMs ?? downloadLimitMs
    using limit = deadlineSignal(options.clock, limitMs, `the profile at ${url}`, waiting.signal)
    try {
      return { name: place.name, text: decodeProfile(await fetchBytes(place, options, limit.signal), url) }
    } catch (error) {
      if (waiting.signal.aborted) throw waiting.signal.reason
      if (limit.signal.reason instanceof DeadlineError) throw refuse(`${url} did not come within ${limitMs / 1000} s`)
      if (error instanceof AppError) throw error
      throw refuse(`${url} can not be fetched: ${error instanceof Error ? error.message : String(error)}`, error)
    }
  }
}

export type ProfilePlace = {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly name: string
}

/** Pure. Errors: BAD_REQUEST. */
export function parseProfileUrl(text: string, allowedHosts: readonly string[]): ProfilePlace {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw refuse(`${JSON.stringify(text)} is no address`)
  if (url.protocol !== 'https:') throw refuse('a profile is fetched by https:// only')
  if (url.username !== '' || url.password !== '' || /[?#@\\]/.test(text)) {
    throw refuse('the address of a profile has no user, query or fragment')
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const allowed = allowedHosts.map((one) => one.toLowerCase())
  if (!allowed.includes(url.host) && !(url.port === '' && allowed.includes(host))) {
    throw refuse(
      `${url.host} is not among the hosts that profiles come from (${allowedHosts.join(', ')}); CAO_PROFILE_ALLOWED_HOSTS names them`,
    )
  }
  const name = /([^/]*)\.md$/.exec(url.pathname)?.[1] ?? ''
  // The path as it was written, before "a/../b" was made "b".
  const written = text.slice(text.indexOf('/', 'https://'.length))
  if (!pathPattern.test(url.pathname) || written !== url.pathname || !profileNamePattern.test(name)) {
    throw refuse('the path of a profile is /folder/…/NAME.md in letters, digits, "_", "-" and "."')
  }
  return { host, port: url.port === '' ? 443 : Number(url.port), path: url.pathname, name }
}

async function fetchBytes(place: ProfilePlace, options: DownloadOptions, signal: AbortSignal): Promise<Uint8Array> {
  const addresses = await requireAddresses(place, options, signal)
  const { host, port, path } = place
  return new Promise((resolve, reject) => {
    const sent = request({
      host,
      port,
      path,
      // A name is not looked up again: what was checked is where it goes.
      lookup: lookupOf(addresses),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      headers: { accept: 'text/markdown, text/plain', 'accept-encoding': 'identity', 'user-agent': 'cao' },
      agent: false,
      signal,
    })
    sent.on('error', reject)
    sent.on('response', (answer) => {
      readAnswer(answer, place).then(resolve, (error: unknown) => {
        sent.destroy()
        reject(error as Error)
      })
    })
    sent.end()
  })
}

async function readAnswer(answer: IncomingMessage, { host, path }: ProfilePlace): Promise<Uint8Array> {
  const status = answer.statusCode ?? 0
  if (status >= 300 && status < 400) {
    throw refuse(`${host} sends to another address, and redirects are not followed: name that address itself`)
  }
  if (status !== 200) throw refuse(`${host} answers ${status} for ${path}`)
  if (/^text\/html\b/i.test(answer.headers['content-type'] ?? '')) {
    throw refuse(`${host} answers with a web page; name the file itself, as on raw.githubusercontent.com`)
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    chunks.push(chunk)
    // One byte too many tells the reader that it is too large.
    if (length > profileBytesMax) break
  }
  return Buffer.concat(chunks)
}

const lookupOf =
  (addresses: readonly string[]): LookupFunction =>
  (_host, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    if (all === true) callback(null, found)
    else callback(null, found[0]?.address ?? '', found[0]?.family)
  }

/** Every address of the host, each of which may be asked. Errors: BAD_REQUEST. */
async function requireAddresses(
  { host }: ProfilePlace,
  { allowedHosts, resolve = resolveAll }: DownloadOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = isIP(host) === 0 ? await untilAborted(resolve(host), signal) : [host]
  if (addresses.length === 0) throw refuse(`${host} has no address`)
  const inner = addresses.find((address) => !isPublicAddress(address) && !allowedHosts.includes(address))
  if (inner === undefined) return addresses
  throw refuse(
    `${host} is ${inner}, which is not of the public Internet; name the address itself in CAO_PROFILE_ALLOWED_HOSTS if you mean it`,
  )
}

const resolveAll = async (host: string): Promise<readonly string[]> =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    promise.then(resolve, reject)
  })
}

// Source: the IANA registries of special-purpose addresses, IPv4 and IPv6.
const special = new BlockList()
for (const range of [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24',
  '192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
].flatMap((line) => line.split(' '))) {
  const [net = '', prefix] = range.split('/')
  special.addSubnet(net, Number(prefix), 'ipv4')
}
/** All that is given out to be reached by anybody; within it some are not. */
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')
const special6 = new BlockList()
for (const range of ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']) {
  const [net = '', prefix] = range.split('/')
  special6.addSubnet(net, Number(prefix), 'ipv6')
}

/** Whether anybody on the Internet could be asked there. Pure. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return isIP(address) === 6 && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
}

const refuse = (sentence: string, cause?: unknown): AppError => new AppError('BAD_REQUEST', sentence, { cause })
