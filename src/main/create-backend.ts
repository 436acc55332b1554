/** The backend of this version: a private tmux server, or the one that `terminal.tmux_socket` names. */
import { randomBytes } from 'node:crypto'
import { systemClock } from '../async/clock-system.ts'
import type { TerminalBackend } from '../backend/backend.ts'
import { createTmuxBackend } from '../backend/tmux/tmux-backend.ts'
import type { Log } from '../lib/log.ts'
import type { ServerConfig } from './server-config.ts'

export function createBackend(config: ServerConfig, log: Log): TerminalBackend {
  const { layout, env, tempDir, options } = config
  const tmuxSocket = options['terminal.tmux_socket']
  return createTmuxBackend({
    clock: systemClock,
    log,
    randomHex: (digits) => randomBytes(digits).toString('hex').slice(0, digits),
    runDir: layout.runDir,
    terminalsDir: layout.terminalsDir,
    env,
    tempDir,
    ...(tmuxSocket === undefined ? {} : { socketPath: tmuxSocket }),
  })
}
