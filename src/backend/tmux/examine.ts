/** What `cao doctor` asks the tmux backend: version and its dangers, server, options, connection, who else is there. */
import type { Clock } from '../../async/clock.ts'
import type { ServerAddress } from '../../tmux/address.ts'
import { dangersOf } from '../../tmux/dangers.ts'
import { checkForeignServer, guestChanges } from '../../tmux/foreign.ts'
import type { TmuxLink } from '../../tmux/link.ts'
import { probeLiveness } from '../../tmux/liveness.ts'
import { replyText } from '../../tmux/runner.ts'
import { findWrongOptions } from '../../tmux/server.ts'
import { essentialOptions } from '../../tmux/server-options.ts'
import { parseVersion } from '../../tmux/version.ts'
import type { BackendFinding } from '../backend.ts'
import type { ServerWatch } from './server-watch.ts'

export type ExamineOptions = {
  readonly clock: Clock
  readonly address: ServerAddress
  readonly life: ServerWatch
  readonly link: TmuxLink
}

/** Errors: none; what can not be found out is a finding. */
export async function examineTmux(options: ExamineOptions): Promise<readonly BackendFinding[]> {
  const { clock, address, life } = options
  const liveness = await probeLiveness(clock, address, life.server.identity)
  if (liveness.kind !== 'present') {
    const cure =
      liveness.kind === 'absent' ? 'the next launch starts it' : 'CAO asks it again and again; nothing is lost'
    return [{ what: 'tmux server', level: 'fail', detail: `${liveness.kind}: ${liveness.detail}; ${cure}` }]
  }
  const { pid, version, startTimeS } = liveness.facts
  const since = new Date(startTimeS * 1000).toISOString()
  const server: BackendFinding = {
    what: 'tmux server',
    level: 'ok',
    detail: `tmux ${version}, pid ${pid} since ${since}, socket ${address.socketPath}`,
  }
  const rest = await Promise.all([life.isForeign ? checkGuest(options) : checkOptions(options), checkClients(options)])
  return [server, ...rest.flat(), checkConnection(options), ...dangers(version)]
}

async function checkOptions({ clock, address }: ExamineOptions): Promise<readonly BackendFinding[]> {
  const wrong = await findWrongOptions(clock, address)
  const names = essentialOptions.map(({ name, value }) => `${name} ${value}`).join(', ')
  if (wrong.length === 0) return [{ what: 'tmux options', level: 'ok', detail: names }]
  const cure = 'somebody changed them; "cao server stop" and any command set them again'
  return [{ what: 'tmux options', level: 'fail', detail: `not as they must be: ${wrong.join(', ')}; ${cure}` }]
}

async function checkGuest({ link, life }: ExamineOptions): Promise<readonly BackendFinding[]> {
  const guest: BackendFinding = {
    what: 'tmux options',
    level: 'note',
    detail: `this server is not ours and is never ended by CAO; set there: ${guestChanges}; all of it goes with them`,
  }
  const version = parseVersion(`tmux ${life.server.facts.version}`)
  const check = version === undefined ? undefined : await checkForeignServer(link, version)
  return check?.kind === 'refused' ? [guest, { what: 'tmux options', level: 'fail', detail: check.detail }] : [guest]
}

function checkConnection({ link }: ExamineOptions): BackendFinding {
  return link.isUp
    ? { what: 'tmux connection', level: 'ok', detail: 'up, without output' }
    : {
        what: 'tmux connection',
        level: 'note',
        detail: 'down; it is opened again, and commands go one by one meanwhile',
      }
}

/** Control clients of others that receive output make respawn-pane deadly. */
async function checkClients({ link }: ExamineOptions): Promise<readonly BackendFinding[]> {
  const outcome = await link.run("list-clients -F '#{client_control_mode} #{client_pid} #{client_flags}'")
  if (outcome.kind !== 'replied') return [{ what: 'tmux clients', level: 'note', detail: 'could not be listed' }]
  const clients = replyText(outcome.replies[0])
    .split('\n')
    .filter((line) => line !== '')
  const risky = clients.filter((line) => line.startsWith('1 ') && !line.includes('no-output'))
  const people = clients.filter((line) => line.startsWith('0 ')).length
  const count: BackendFinding = { what: 'tmux clients', level: 'ok', detail: `${people} attached` }
  const pids = risky.map((line) => line.split(' ')[1]).join(', ')
  const advice = 'while it is attached, do not respawn panes and do not kill the server (K3, K4)'
  return risky.length === 0
    ? [count]
    : [count, { what: 'tmux clients', level: 'note', detail: `control client with output, pid ${pids}: ${advice}` }]
}

function dangers(text: string): readonly BackendFinding[] {
  const version = parseVersion(`tmux ${text}`)
  if (version === undefined) return [{ what: 'tmux dangers', level: 'note', detail: `unknown for ${text}` }]
  return dangersOf(version).map(({ name, what, against }) => ({
    what: `tmux ${name}`,
    level: against.by === 'cao' ? 'ok' : 'note',
    detail: `${what}: ${against.how}`,
  }))
}
