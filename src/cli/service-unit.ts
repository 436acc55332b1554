/**
 * The text of the systemd user unit that runs the server. Agents and their tmux are no part of it: `KillMode=process` ends the
 * server alone, whatever else was started from it. Pure. Source: systemd.service(5), systemd.kill(5), systemd.exec(5).
 */
import { errorTable } from '../domain/errors.ts'

export type UnitPlan = {
  /** argv of the server program, the first word an absolute path. */
  readonly program: readonly string[]
  readonly home: string
  /** PATH of whoever installs: agents' programs are looked for in it. */
  readonly path: string
}

/** With these the server would only fail again. */
const lastingFailures = ['BAD_REQUEST', 'CONFLICT', 'STORE_CORRUPT', 'SETUP_MISSING', 'STORE_NEWER'] as const
/** What tells a program that it runs inside a multiplexer or an agent; imported into the manager by some login scripts. */
const scrubbed = [
  'TMUX',
  'TMUX_PANE',
  'STY',
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CAO_TERMINAL_ID',
  'CAO_SESSION_NAME',
  'CAO_CAPABILITY_FILE',
  'CAO_SOCKET',
  'CAO_OUTBOX',
  'CAO_TOOLS_FILE',
]

export function unitText({ program, home, path }: UnitPlan): string {
  const folders = path.split(':').filter((folder) => folder.startsWith('/') && !/\p{Cc}/u.test(folder))
  const codes = lastingFailures.map((code) => errorTable[code].exitCode)
  return `# Written by "cao service install"; "cao service uninstall" removes it.
[Unit]
Description=CAO server for ${home.replaceAll('%', '%%')}
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${program.map((word, n) => (n === 0 ? quote(word) : quote(word).replaceAll('$', '$$$$'))).join(' ')}
Environment=${quote(`CAO_HOME=${home}`)}
Environment=${quote(`PATH=${folders.join(':')}`)}
UnsetEnvironment=${scrubbed.join(' ')}
WorkingDirectory=-${home.replaceAll('%', '%%')}
UMask=0077
KillMode=process
OOMPolicy=continue
TimeoutStopSec=20
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=${[...new Set(codes)].toSorted((a, b) => a - b).join(' ')}

[Install]
WantedBy=default.target
`
}

/** One word, as systemd reads it back. Variables are put into the words of a command, but not into the first. */
function quote(word: string): string {
  return `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`
}
