/**
 * Where a tmux server is and with which program and environment it is spoken to. Every call of
 * tmux in this code base takes its arguments from here, so that none lacks the socket, the
 * configuration or UTF-8.
 */
export type ServerAddress = {
  /** The tmux program, a name or an absolute path. */
  readonly tmux: string
  /** Absolute path of the socket. */
  readonly socketPath: string
  /** Absolute path of the configuration file; tmux reads it only when a server starts. */
  readonly confPath: string
  /** Environment of tmux itself: nothing of the launching user's but what `scrubEnvironment` lets through. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Where it is noted which process our server is. Not beside the socket, so that it survives the removal of that directory.
   */
  readonly recordPath: string
  /** Session that is never killed and that our control client is attached to. */
  readonly keeperSession: string
}

/** Arguments common to all calls. `-u`: glyphs and titles come back as `_` without it. */
export function addressArgs(address: ServerAddress): string[] {
  return ['-u', '-S', address.socketPath, '-f', address.confPath]
}

/** Arguments of a call that must not start a server (-N): attach-session would, and so would new-session. */
export function existingServerArgs(address: ServerAddress): string[] {
  return ['-N', ...addressArgs(address)]
}

const passedThrough = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'XDG_RUNTIME_DIR'] as const

/**
 * The environment for tmux: the server's own leaks into every pane, so it holds only what a login
 * would. Agents get their environment pane by pane.
 */
export function scrubEnvironment(base: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const env: Record<string, string> = {
    PATH: base['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    TERM: 'xterm-256color',
    LANG: utf8Locale(base) ?? 'C.UTF-8',
  }
  for (const name of passedThrough) {
    const value = base[name]
    if (value !== undefined && value !== '') env[name] = value
  }
  return env
}

function utf8Locale(base: Readonly<Record<string, string | undefined>>): string | undefined {
  return [base['LC_ALL'], base['LC_CTYPE'], base['LANG']].find((value) => /utf-?8/i.test(value ?? ''))
}
