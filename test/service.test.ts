/** `cao service`: one file in the person's own folder, only when asked; a unit that systemd takes; agents are none of its business. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { unitText } from '../src/cli/service-unit.ts'
import { readIfThere, TestWorld } from './world.case.ts'

let world: TestWorld
let tools = ''
beforeEach(async () => {
  world = await TestWorld.open()
  tools = join(world.world.folder, 'tools')
  mkdirSync(tools)
})
afterEach(() => world[Symbol.asyncDispose](), 60_000)

/** A user manager that answers as systemd does, notes what it is told, and runs nothing. */
function layManager(state: string): void {
  const text = `#!/bin/sh
shift 2
echo "$*" >>'${tools}/calls'
case $1 in
  is-system-running) echo ${state}; [ ${state} = running ] ;;
  restart) touch '${tools}/active' ;;
  disable) rm -f '${tools}/active' ;;
  is-active) [ -e '${tools}/active' ] && echo active || { echo inactive; exit 3; } ;;
  is-enabled) echo enabled ;;
esac
`
  writeFileSync(join(tools, 'systemctl'), text)
  chmodSync(join(tools, 'systemctl'), 0o755)
}

const calls = (): readonly string[] =>
  readIfThere(join(tools, 'calls'))
    .split('\n')
    .filter((line) => line !== '')
const service = (...words: readonly string[]) =>
  world.run('cao', ['service', ...words], { env: { PATH: `${tools}:${world.world.env['PATH'] ?? ''}` } })

test('install writes one unit below ~/.config/systemd/user and has systemd run it, status tells, uninstall takes all of it back', async () => {
  layManager('running')
  const installed = await service('install', '--json')
  expect(installed).toMatchObject({ code: 0, err: expect.stringContaining('loginctl enable-linger') })
  const { unit } = JSON.parse(installed.out) as { readonly unit: string }
  const home = world.world.env['HOME'] ?? ''
  expect(unit).toMatch(new RegExp(`^${home}/\\.config/systemd/user/cao-[0-9a-f]{8}\\.service$`))
  const name = unit.split('/').at(-1)
  expect(calls()).toEqual([
    'is-system-running',
    `is-active ${name}`,
    'daemon-reload',
    `enable ${name}`,
    `restart ${name}`,
  ])
  expect(statSync(unit).mode & 0o777).toBe(0o644)
  const text = readFileSync(unit, 'utf8')
  expect((await service('install', '--print')).out).toBe(text)
  expect(text).toContain(`Environment="CAO_HOME=${world.world.layout.home}"`)
  expect(text).toContain(`ExecStart="${join(import.meta.dirname, '..', 'bin', 'cao-server')}"\n`)
  expect(readdirSync(home)).toEqual(['.config'])
  expect(await service('status')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/unit +\/.*\nenabled +enabled\nactive +active\n/),
  })
  writeFileSync(unit, `${text}# edited\n`)
  expect((await service('status')).out).toContain('install it again')
  expect(await service('uninstall')).toMatchObject({ code: 0, out: `removed: ${unit}; agents that run go on\n` })
  expect(existsSync(unit)).toBe(false)
  expect(calls().slice(-3)).toEqual(['is-system-running', `disable --now ${name}`, 'daemon-reload'])
  expect(await service('status')).toMatchObject({ code: 69, out: expect.stringContaining('not installed') })
  expect((await service('uninstall')).out).toBe('no unit is installed\n')
}, 60_000)

test('without a user manager nothing is written, and what to do instead is said', async () => {
  layManager('offline')
  const ran = await service('install')
  expect(ran).toMatchObject({ code: 69, out: '' })
  expect(ran.err).toContain('no systemd user manager answers here (offline); nothing was written')
  expect(ran.err).toContain('"cao server start" runs the server without one')
  expect(readdirSync(world.world.env['HOME'] ?? '')).toEqual([])
})

test('a server that was started by hand is not pushed aside', async () => {
  layManager('running')
  await world.startServer()
  const ran = await service('install')
  expect(ran).toMatchObject({
    code: 9,
    err: expect.stringContaining('"cao server stop" ends it, agents go on; then install again'),
  })
  expect(readdirSync(world.world.env['HOME'] ?? '')).toEqual([])
}, 60_000)

const plan = {
  program: ['/opt/c a%o$"\\/bin/cao-server', '$x'],
  home: '/srv/ann/my %home',
  path: '/opt/bin:relative:/usr/bin:/a b',
}

test('the text of the unit is pinned: the server alone is ended, and what a restart can not mend is not tried again', () => {
  expect(unitText(plan)).toBe(`# Written by "cao service install"; "cao service uninstall" removes it.
[Unit]
Description=CAO server for /srv/ann/my %%home
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart="/opt/c a%%o$\\"\\\\/bin/cao-server" "$$x"
Environment="CAO_HOME=/srv/ann/my %%home"
Environment="PATH=/opt/bin:/usr/bin:/a b"
UnsetEnvironment=TMUX TMUX_PANE STY CLAUDECODE CLAUDE_CODE_ENTRYPOINT CAO_TERMINAL_ID CAO_SESSION_NAME CAO_CAPABILITY_FILE CAO_SOCKET CAO_OUTBOX CAO_TOOLS_FILE
WorkingDirectory=-/srv/ann/my %%home
UMask=0077
KillMode=process
OOMPolicy=continue
TimeoutStopSec=20
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 9 65 69 78

[Install]
WantedBy=default.target
`)
})

test('systemd finds nothing to say against the unit, where it is there to be asked', () => {
  const folder = join(world.world.folder, 'odd %path$')
  mkdirSync(folder)
  const program = join(folder, 'cao-server')
  writeFileSync(program, '#!/bin/sh\n')
  chmodSync(program, 0o755)
  const unit = join(world.world.folder, 'cao.service')
  writeFileSync(unit, unitText({ ...plan, program: [program] }))
  expect(verify(unit)).toEqual([])
  writeFileSync(unit, unitText({ ...plan, program: [join(folder, 'nothing')] }))
  expect(verify(unit).length > 0).toBe(isInstalled())
})

const isInstalled = (): boolean => sh('command -v systemd-analyze') !== ''
const sh = (command: string): string => execFileSync('sh', ['-c', `${command} 2>&1; :`], { encoding: 'utf8' })

/** What it complains of in this unit; none of the machine's other units. */
function verify(unit: string): readonly string[] {
  if (!isInstalled()) return []
  return sh(`systemd-analyze verify '${unit}'`)
    .split('\n')
    .filter((line) => line.includes('cao'))
}
