/**
 * The options of our own server: what each protects from, and the command line that sets them.
 *
 * The configuration file stays minimal, because one statement that an old tmux does not know
 * disables the whole file; the rest is set by guarded commands and read back, since success is
 * judged by what stands there and never by an exit status. `window-size manual` is missing on
 * purpose: as a global option it kills tmux 3.3a to 3.6 at the next creation; each window gets it
 * by resize-window instead.
 */
import { quote } from './quote.ts'

export type OptionScope = 'server' | 'session' | 'window'
export type ServerOption = {
  readonly scope: OptionScope
  readonly name: string
  readonly value: string
  /** Without it agents may die or output be lost, so it is verified. */
  readonly isEssential?: true
}

export const serverOptions: readonly ServerOption[] = [
  // The server must outlive its last session, and nobody being attached.
  { scope: 'server', name: 'exit-empty', value: 'off', isEssential: true },
  { scope: 'server', name: 'exit-unattached', value: 'off', isEssential: true },
  { scope: 'session', name: 'destroy-unattached', value: 'off', isEssential: true },
  // A dead pane keeps its last screen and code until they are stored.
  { scope: 'window', name: 'remain-on-exit', value: 'on', isEssential: true },
  // No words of tmux below an agent's last screen.
  { scope: 'window', name: 'remain-on-exit-format', value: '' },
  // Fixed for a pane when it is created.
  { scope: 'session', name: 'history-limit', value: '10000', isEssential: true },
  { scope: 'session', name: 'default-size', value: '200x50' },
  { scope: 'window', name: 'automatic-rename', value: 'off' },
  { scope: 'window', name: 'allow-rename', value: 'off' },
  { scope: 'session', name: 'set-titles', value: 'off' },
  { scope: 'session', name: 'status', value: 'off' },
  { scope: 'session', name: 'base-index', value: '0' },
  { scope: 'window', name: 'pane-base-index', value: '0' },
  { scope: 'session', name: 'renumber-windows', value: 'off' },
  { scope: 'session', name: 'default-terminal', value: 'tmux-256color' },
  { scope: 'session', name: 'default-shell', value: '/bin/sh' },
  { scope: 'server', name: 'focus-events', value: 'on' },
  { scope: 'session', name: 'update-environment', value: '' },
  { scope: 'window', name: 'monitor-activity', value: 'off' },
  { scope: 'window', name: 'monitor-bell', value: 'off' },
]

const unlessDead = (command: string): string => `if-shell -F '#{pane_dead}' '' ${quote(command)}`

/**
 * A paste into a dead pane ends tmux 3.2a and 3.3a, and a person's own key does it too: the keys that paste look first.
 * Source: tmux list-keys, all bindings with paste-buffer in them.
 */
export const guardedBindings: readonly string[] = [
  `bind-key -T prefix ] ${unlessDead('paste-buffer -p')}`,
  `bind-key -T prefix = choose-buffer -Z ${quote(unlessDead("paste-buffer -p -b '%%'"))}`,
  `bind-key -T root MouseDown2Pane select-pane -t = \\; ${unlessDead(
    `if-shell -F '#{||:#{pane_in_mode},#{mouse_any_flag}}' 'send-keys -M' 'paste-buffer -p'`,
  )}`,
]

const scopeFlags: Readonly<Record<OptionScope, string>> = { server: '-s', session: '-g', window: '-wg' }

export function setOptionCommand(option: ServerOption): string {
  return `set-option ${scopeFlags[option.scope]} ${option.name} ${quote(option.value)}`
}

/** Those that are read back after the start. */
export const essentialOptions: readonly ServerOption[] = serverOptions.filter((option) => option.isEssential === true)

/** Content of the configuration file. */
export const configurationText = [
  '# Written by CAO for its own tmux server. Changes here are overwritten; see `cao doctor`.',
  'set-option -s exit-empty off',
  '',
].join('\n')
