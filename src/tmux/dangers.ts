/**
 * What can end, wedge or fill a tmux server, by version, and what stands against it: the short form of
 * docs/tmux-dangers.md, which says where each was measured. Pure.
 */
import { compareVersions, parseVersion, type TmuxVersion } from './version.ts'

export type Danger = {
  /** As in docs/tmux-dangers.md. */
  readonly name: string
  readonly what: string
  /** `cao`: nothing of ours reaches it, a person's keys neither. `person`: what a person had better not do. */
  readonly against: { readonly by: 'cao' | 'person'; readonly how: string }
}

type Known = Danger & {
  /** First version that has it; undefined: all before too. */
  readonly from?: string
  /** First version without it; undefined: none yet. */
  readonly until?: string
}

const cao = (how: string): Danger['against'] => ({ by: 'cao', how })
const person = (how: string): Danger['against'] => ({ by: 'person', how })

const known: readonly Known[] = [
  {
    name: 'K2',
    what: 'a paste into a dead pane ends the server',
    until: '3.4',
    against: person('CAO and the keys of its server look first; do not type paste-buffer at a dead pane yourself'),
  },
  {
    name: 'K3',
    what: 'respawn-pane ends the server while a control client receives the output of that pane',
    until: '3.8',
    against: person('the client of CAO receives none; do not respawn panes with a `tmux -CC` client attached'),
  },
  {
    name: 'K4',
    what: 'kill-server leaves a server that refuses everybody while a control client does not read',
    until: '3.8',
    against: person('end everything by `cao shutdown --all`; CAO frees a server of its own after 12 s'),
  },
  {
    name: 'K5',
    what: 'a pipe-pane command that does not read makes the server spin and grow',
    against: cao('its output sinks always read, and are started again when they end'),
  },
  {
    name: 'K9',
    what: 'signals of ended children get lost in builds with utempter',
    until: '3.6',
    against: cao('exits are told by a wrapper, and the server is made to ask again'),
  },
  {
    name: 'K10',
    what: 'a removed socket makes the next start a second server',
    against: cao('the server is recorded and makes its socket again'),
  },
  {
    name: 'K13',
    what: 'short-lived panes end the server under a control client that receives output',
    until: '3.3',
    against: person('the client of CAO receives none; better install 3.4 or newer'),
  },
  {
    name: 'K15',
    what: 'a global "window-size manual" ends the server at the next window',
    from: '3.3',
    until: '3.7',
    against: cao('set back in the same step as each creation; a foreign server with it is refused'),
  },
  {
    name: 'K18',
    what: 'a printed capture over a control connection is never freed',
    until: '3.6',
    against: cao('captures go through a buffer'),
  },
  {
    name: 'K19',
    what: 'the last windows of a session removed in one turn end the server',
    from: '3.3',
    until: '3.4',
    against: cao('each removal ends the turn first'),
  },
  {
    name: 'K20',
    what: 'a control client that connects while something is announced ends the server',
    from: '3.3',
    until: '3.4',
    against: cao('opens none while a command of its own runs'),
  },
]

/** Those that this version has. */
export function dangersOf(version: TmuxVersion): readonly Danger[] {
  return known
    .filter(({ from, until }) => !isBefore(version, from) && (until === undefined || isBefore(version, until)))
    .map(({ name, what, against }) => ({ name, what, against }))
}

function isBefore(version: TmuxVersion, other: string | undefined): boolean {
  const parsed = other === undefined ? undefined : parseVersion(`tmux ${other}`)
  return parsed !== undefined && compareVersions(version, parsed) < 0
}
