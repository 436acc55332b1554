import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { AppError } from '../domain/errors.ts'
import { createProfileDownload, type DownloadOptions, isPublicAddress, parseProfileUrl } from './download-profile.ts'
import { type Answer, HttpsServer } from './https-server.case.ts'

const profile = '---\nname: far\n---\nFrom far away.\n'
const answers: Readonly<Record<string, Answer>> = {
  '/a/far.md': (_request, answer) => answer.end(profile),
  '/a/moved.md': (_request, answer) => answer.writeHead(302, { location: 'https://127.0.0.1/secret.md' }).end(),
  '/a/page.md': (_request, answer) => answer.setHeader('content-type', 'text/html; charset=utf-8').end(profile),
  '/a/gone.md': (_request, answer) => answer.writeHead(404).end('<html>'),
  '/a/latin.md': (_request, answer) => answer.end(Buffer.from('---\nname: latin\n---\ncaf\u00e9', 'latin1')),
  '/a/endless.md': (_request, answer) => {
    const more = () => {
      while (answer.write('x'.repeat(64 * 1024)));
      answer.once('drain', more)
    }
    more()
  },
  '/a/silent.md': (_request, answer) => answer.write('---\n'),
  '/a/broken.md': (request) => request.socket.destroy(),
}
let server: HttpsServer
beforeAll(async () => {
  server = await HttpsServer.start(['profiles.test', 'localhost'], (request, answer) =>
    answers[request.url ?? '']?.(request, answer),
  )
})
afterAll(() => server[Symbol.asyncDispose]())

const loopback = async () => ['127.0.0.1']
const options = (changes: Partial<DownloadOptions> = {}): DownloadOptions => ({
  clock: systemClock,
  allowedHosts: [`profiles.test:${server.port}`, '127.0.0.1'],
  ca: server.cert,
  resolve: loopback,
  ...changes,
})
const fetchFrom = (path: string, changes?: Partial<DownloadOptions>) =>
  createProfileDownload(options(changes))(`https://profiles.test:${server.port}${path}`, {
    signal: new AbortController().signal,
  })

async function refusal(fetching: Promise<unknown>): Promise<string> {
  const error = await fetching.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof AppError)) throw new Error(`not refused: ${String(error)}`)
  return `${error.code}: ${error.message.replaceAll(String(server.port), 'PORT')}`
}

describe('an address that may be asked', () => {
  test('gives the text of the profile and its name', async () => {
    expect(await fetchFrom('/a/far.md')).toEqual({ name: 'far', text: profile })
  })

  test.each([
    [
      'a redirect',
      '/a/moved.md',
      /^BAD_REQUEST: profiles\.test sends to another address, and redirects are not followed/,
    ],
    ['a page that is not there', '/a/gone.md', /^BAD_REQUEST: profiles\.test answers 404 for \/a\/gone\.md$/],
    [
      'a web page around it',
      '/a/page.md',
      /^BAD_REQUEST: profiles\.test answers with a web page; name the file itself/,
    ],
    ['an endless answer', '/a/endless.md', /^PROFILE_INVALID: .* is larger than 256 KiB/],
    ['what is no UTF-8', '/a/latin.md', /^PROFILE_INVALID: .* is not UTF-8/],
    ['a connection that breaks', '/a/broken.md', /^BAD_REQUEST: .* can not be fetched: /],
  ])('gives nothing for %s', async (_what, path, expected) => {
    expect(await refusal(fetchFrom(path))).toMatch(expected)
    expect(server.asked.some((one) => one.includes('secret'))).toBe(false)
  })

  test('is given up when it does not end in time, or when nobody wants it any more', async () => {
    expect(await refusal(fetchFrom('/a/silent.md', { limitMs: 300 }))).toBe(
      'BAD_REQUEST: https://profiles.test:PORT/a/silent.md did not come within 0.3 s',
    )
    const never = () => new Promise<readonly string[]>(() => undefined)
    expect(await refusal(fetchFrom('/a/far.md', { limitMs: 50, resolve: never }))).toContain('did not come within')
    const given = AbortSignal.abort(new Error('gone'))
    const waiting = { signal: given }
    const url = `https://profiles.test:${server.port}/a/silent.md`
    await expect(createProfileDownload(options())(url, waiting)).rejects.toThrow('gone')
  })

  test('must have a certificate that is trusted, for its own name', async () => {
    expect(await refusal(fetchFrom('/a/far.md', { ca: undefined }))).toContain('certificate')
    const other = `https://other.test:${server.port}/a/far.md`
    const download = createProfileDownload(options({ allowedHosts: [`other.test:${server.port}`, '127.0.0.1'] }))
    expect(await refusal(download(other, { signal: new AbortController().signal }))).toMatch(/altnames|does not match/)
  })

  test('is asked nothing when a name leads inside, even by one of its addresses', async () => {
    server.asked.length = 0
    const allowedHosts = [`profiles.test:${server.port}`]
    expect(await refusal(fetchFrom('/a/far.md', { allowedHosts }))).toBe(
      'BAD_REQUEST: profiles.test is 127.0.0.1, which is not of the public Internet; name the address itself in CAO_PROFILE_ALLOWED_HOSTS if you mean it',
    )
    const both = async () => ['93.184.215.14', '::1']
    expect(await refusal(fetchFrom('/a/far.md', { allowedHosts, resolve: both }))).toContain('profiles.test is ::1')
    expect(await refusal(fetchFrom('/a/far.md', { resolve: async () => [] }))).toContain('has no address')
    expect(server.asked).toEqual([])
  })
})

describe('an address', () => {
  const hosts = ['github.com', 'raw.githubusercontent.com', 'mirror.example:8443']
  test.each([
    [
      'https://raw.githubusercontent.com/o/r/main/dev.md',
      { host: 'raw.githubusercontent.com', port: 443, name: 'dev' },
    ],
    ['HTTPS://GitHub.com:443/o/dev-2.md', { host: 'github.com', port: 443, name: 'dev-2' }],
    ['https://mirror.example:8443/x.md', { host: 'mirror.example', port: 8443, name: 'x' }],
  ])('%s is taken', (url, expected) => {
    expect(parseProfileUrl(url, hosts)).toMatchObject(expected)
  })

  test.each([
    'http://github.com/o/dev.md',
    'file:///etc/passwd',
    'https://github.com:8443/o/dev.md',
    'https://mirror.example/x.md',
    'https://evil.example/o/dev.md',
    'https://github.com.evil.example/dev.md',
    'https://github.com@evil.example/dev.md',
    'https://me:secret@github.com/dev.md',
    'https://github.com/dev.md?next=http://127.0.0.1/',
    'https://github.com/dev.md#x',
    'https://github.com/../dev.md',
    'https://github.com/a/%2e%2e/dev.md',
    'https://github.com/a/.hidden.md',
    'https://github.com/a/dev.txt',
    'https://github.com/a/d e v.md',
    'https://github.com\\@evil.example/dev.md',
    'https://github.com/a/\tdev.md',
    `https://github.com/${'x'.repeat(65)}.md`,
    'https://[::1]/dev.md',
    'https://2130706433/dev.md',
    'https://127.1/dev.md',
    'https://0x7f.1/dev.md',
    'https://169.254.169.254/dev.md',
    'https://localhost/dev.md',
    'https:///dev.md',
    'dev.md',
    '',
  ])('%j is refused before anything is asked', (url) => {
    expect(() => parseProfileUrl(url, hosts)).toThrow(AppError)
  })
})

const inner =
  '127.0.0.1 10.1.2.3 172.31.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 198.18.0.1 ::1 :: fe80::1 fd00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 2002:7f00:1:: 2001::1 2001:db8::1'
test.each([...inner.split(' '), 'not an address', ''])('%j is not of the public Internet', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each(['8.8.8.8', '172.32.0.1', '140.82.121.4', '2606:4700::1111', '2a00:1450:4001::1'])('%j is', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})
