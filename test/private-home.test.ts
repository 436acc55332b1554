/**
 * What of a running CAO other users of this machine can see or touch: nothing. A whole world is started under the loosest umask, with
 * secrets in its environment and its messages; then its files, command lines and logs are looked through, and, where these tests run as root,
 * a process of a second user tries every way in.
 */
import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parseServerFile, type ServerFile } from '../src/protocol/home.ts'
import { findProcesses } from '../src/world/find-processes.ts'
import { readIfThere, TestWorld } from './world.case.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })

const secrets = {
  'a variable of the agent': 'dummy-variable-5f1c9e',
  'a variable of the shell': 'dummy-key-77ab02',
  'a message': 'dummy-message-c41d88',
} as const

let world: TestWorld
let agent: string
let server: ServerFile
const umaskBefore = process.umask()

beforeAll(async () => {
  process.umask(0)
  world = await TestWorld.open({ CAO_API_PORT: '0', ANTHROPIC_API_KEY: secrets['a variable of the shell'] })
  await world.startServer()
  const { projectDir: working_directory, layout } = world.world
  const made = await world.client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory,
    env_vars: { DUMMY_SECRET: secrets['a variable of the agent'] },
  })
  agent = made.id
  await world.client.sendInput(agent, { message: `reply ${secrets['a message']}`, wait_s: 20 })
  await world.waitForStatus(agent, 'completed')
  const ended = (
    await world.client.createSession({ agent_profile: 'developer', provider: 'scripted', working_directory })
  ).id
  await world.client.sendInput(ended, { message: 'crash 3', wait_s: 20 })
  await world.waitForStatus(ended, 'error')
  // Every command of a person leaves its traces, too.
  for (const args of [['ls'], ['output', agent], ['explain', agent], ['events']]) await world.run('cao', args)
  const file = parseServerFile(readIfThere(layout.serverFile))
  if (file === undefined) throw new Error('the server wrote no file')
  server = file
})
afterAll(async () => {
  process.umask(umaskBefore)
  await world[Symbol.asyncDispose]()
})

type Found = { readonly path: string; readonly mode: string; readonly kind: string }

/** Everything below `dir`, without following links. */
function walk(dir: string): readonly Found[] {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name)
    const stat = lstatSync(path)
    const kind = stat.isDirectory() ? 'dir' : stat.isSymbolicLink() ? 'link' : stat.isSocket() ? 'socket' : 'file'
    return [{ path, kind, mode: (stat.mode & 0o777).toString(8) }, ...(kind === 'dir' ? walk(path) : [])]
  })
}

const allSecrets = (): Readonly<Record<string, string>> => {
  const { layout } = world.world
  const read = (path: string) => readFileSync(path, 'utf8').trim()
  return {
    ...secrets,
    'the token': read(layout.tokenFile),
    'the read-only token': read(layout.readTokenFile),
    'a capability': read(join(layout.terminalsDir, agent, 'capability')),
  }
}
const namesIn = (text: string): readonly string[] =>
  Object.entries(allSecrets()).flatMap(([name, value]) => (text.includes(value) ? [name] : []))

test('whatever the umask: every file of the home is 0600 or an own program, every folder 0700', () => {
  const found = walk(world.world.layout.home)
  const names = found.map(({ path }) => basename(path))
  const some = ['pid', 'exit', 'output.log', 'index', 'capability', 'cao.db', 'cao.db-wal', 'server.sock', 'tmux.sock']
  expect(some.filter((name) => !names.includes(name))).toEqual([])
  expect(found.filter(({ mode, kind }) => kind !== 'link' && !/^[467]00$/.test(mode))).toEqual([])
  expect(found.filter(({ mode, kind }) => kind === 'dir' && mode !== '700')).toEqual([])
})

test('no secret and no message stands in a command line, which every user can read', async () => {
  const processes = await findProcesses(world.world.folder)
  expect(processes.length).toBeGreaterThan(3)
  expect(processes.filter(({ command }) => namesIn(command).length > 0)).toEqual([])
})

test('no secret and no message stands in the logs', () => {
  const { layout } = world.world
  const logs = walk(layout.logsDir).filter(({ kind }) => kind === 'file')
  expect(logs.map(({ path }) => path).toSorted()).toEqual([layout.auditFile, layout.serverLog])
  expect(logs.flatMap(({ path }) => namesIn(readFileSync(path, 'utf8')))).toEqual([])
})

test('tmux keeps no secret in its environment, and its server is started with none', () => {
  const told = [world.tmux('show-environment', '-g'), world.tmux('list-sessions'), world.tmux('list-buffers')].join(
    '\n',
  )
  expect(namesIn(told)).toEqual([])
})

test('what is refused is refused without repeating a secret', async () => {
  const ask = async (path: string, headers: Readonly<Record<string, string>>, body: unknown) => {
    const url = `http://127.0.0.1:${server.tcp_port}${path}`
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
    const answer = await fetch(url, { ...init, body: JSON.stringify(body) })
    return [answer.status, await answer.text()] as const
  }
  const all = allSecrets()
  const authorization = { authorization: `Bearer ${all['the token']}` }
  const value = secrets['a variable of the agent']
  const answers = [
    await ask('/sessions', { authorization: `Bearer ${all['the token']}x` }, {}),
    await ask('/sessions', { 'x-cao-capability': `${all['a capability']}x` }, {}),
    await ask('/sessions', authorization, { agent_profile: 'developer', env_vars: { 'no name': value } }),
    await ask('/sessions', authorization, { agent_profile: 'developer', env_vars: { TMUX: value } }),
    await ask('/sessions', authorization, { agent_profile: 'developer', env_vars: { A: [value] } }),
    await ask('/sessions', authorization, { agent_profile: 'nobody', env_vars: { A: value } }),
    await ask(`/terminals/${agent}/input`, authorization, { message: [secrets['a message']] }),
  ]
  expect(answers.map(([status]) => status >= 400 && status < 500)).toEqual(answers.map(() => true))
  expect(answers.flatMap(([, text]) => namesIn(text))).toEqual([])
})

test('a person is shown the tokens that the door takes, and the lines of the audit log', async () => {
  const all = allSecrets()
  const [full, reading, audit] = [
    await world.run('cao', ['token']),
    await world.run('cao', ['token', '--read-only', '--json']),
    await world.run('cao', ['audit', '--json', '--limit', '1000']),
  ]
  expect(full).toEqual({ code: 0, out: `${all['the token']}\n`, err: '' })
  const { readTokenFile: file } = world.world.layout
  expect(JSON.parse(reading.out)).toEqual({ token: all['the read-only token'], file, scope: 'read' })
  const lines = JSON.parse(audit.out) as readonly Record<string, unknown>[]
  const made = lines.filter(({ route, status }) => route === '/sessions' && status === 201)
  expect(made.map(({ actor, door, method }) => [actor, door, method])).toEqual([
    ['person', 'unix', 'POST'],
    ['person', 'unix', 'POST'],
  ])
  const table = await world.run('cao', ['audit', '--refused', '--limit', '1'])
  expect(table.out.split('\n')[0]).toMatch(/^AT +WHO +DOOR +WHAT +TARGET +OUTCOME$/)
})

test('without a server that has ever run there is no token, and the sentence says how one comes to be', async () => {
  await using fresh = await TestWorld.open()
  const { code, err } = await fresh.run('cao', ['token'])
  expect([code, err]).toEqual([4, expect.stringContaining('"cao server start"')])
})

const otherUser = 54_321

/** Runs with this Node as a second user, who needs no account. Prints one line of JSON. */
const intruder = `
const fs = require('node:fs'), net = require('node:net'), path = require('node:path'), { execFileSync } = require('node:child_process')
const { home, paths, sockets, pids, tmuxSocket } = JSON.parse(process.argv[1])
process.setgroups([]); process.setgid(${otherUser}); process.setuid(${otherUser})
const attempt = (act) => { try { act(); return 'DONE' } catch (error) { return error.code ?? 'exit ' + error.status } }
const outcomes = {}
for (const file of paths) {
  const isDir = file.endsWith('/')
  outcomes['read ' + file] = attempt(() => isDir ? fs.readdirSync(file) : fs.readFileSync(file))
  outcomes['write ' + file] = attempt(() => isDir ? fs.writeFileSync(file + 'x.json', '') : fs.appendFileSync(file, 'x'))
}
for (const pid of pids) {
  outcomes['signal ' + pid] = attempt(() => process.kill(pid, 'SIGTERM'))
  outcomes['environment of ' + pid] = attempt(() => fs.readFileSync('/proc/' + pid + '/environ'))
  outcomes['memory of ' + pid] = attempt(() => fs.readFileSync('/proc/' + pid + '/mem'))
}
outcomes['tmux'] = attempt(() => execFileSync('tmux', ['-S', tmuxSocket, 'list-sessions'], { stdio: 'pipe', env: { PATH: process.env.PATH } }))
const open = sockets.map((socket) => new Promise((resolve) => {
  const made = net.connect(socket)
  made.once('connect', () => { made.destroy(); resolve(['connect ' + socket, 'DONE']) })
  made.once('error', (error) => resolve(['connect ' + socket, error.code]))
}))
Promise.all(open).then((all) => console.log(JSON.stringify({ uid: process.getuid(), ...outcomes, ...Object.fromEntries(all) })))
`

if (process.getuid?.() === 0) {
  test('a second local user reads, writes, signals, joins and connects to nothing', async () => {
    const { folder, layout } = world.world
    // The way to the home is open, so that only its own locks are tried.
    chmodSync(folder, 0o755)
    chmodSync(layout.home, 0o755)
    const found = walk(layout.home).filter(({ path, kind }) => kind === 'file' && !path.startsWith(layout.shimsDir))
    const dirs = walk(layout.home).filter(({ kind }) => kind === 'dir')
    const tmuxSocket = join(layout.runDir, 'tmux.sock')
    const processes = await findProcesses(folder)
    const request = {
      home: layout.home,
      paths: [...found.map(({ path }) => path), ...dirs.map(({ path }) => `${path}/`), `${layout.home}/`],
      sockets: [server.socket_path, tmuxSocket],
      pids: processes.map(({ pid }) => pid),
      tmuxSocket,
    }
    const ran = await promisify(execFile)(process.execPath, ['-e', intruder, JSON.stringify(request)])
    const { uid, ...outcomes } = JSON.parse(ran.stdout) as Record<string, string | number>
    chmodSync(layout.home, 0o700)
    expect(uid).toBe(otherUser)
    // The listing of the home itself was opened by this test.
    delete outcomes[`read ${layout.home}/`]
    expect(Object.entries(outcomes).length).toBeGreaterThan(40)
    expect(Object.entries(outcomes).filter(([, outcome]) => !/^(EACCES|EPERM|exit 1)$/.test(String(outcome)))).toEqual(
      [],
    )
  })
} else {
  process.stderr.write('not root, which alone can start a process of a second user: that case is left out\n')
}

test('the TCP door, which every user can reach, tells nothing without a token', async () => {
  const greeting = await new Promise<string>((resolve, reject) => {
    const socket = connect(server.tcp_port ?? 0, '127.0.0.1', () => {
      socket.write('GET /terminals HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
    })
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.on('error', reject).on('close', () => resolve(text))
  })
  expect(greeting).toMatch(/^HTTP\/1\.1 401 /)
  expect(greeting).not.toContain(agent)
})
