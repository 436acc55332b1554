/** The installed tmux, or in one sentence what a person has to do about it. */
import type { Clock } from '../../async/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { ServerAddress } from '../../tmux/address.ts'
import { probeVersion, type TmuxVersion } from '../../tmux/version.ts'

/** Errors: SETUP_MISSING. */
export async function requireTmux(clock: Clock, address: ServerAddress): Promise<TmuxVersion> {
  const probe = await probeVersion(clock, address.tmux, address.env)
  switch (probe.kind) {
    case 'ok':
      return probe.version
    case 'missing':
      throw new AppError('SETUP_MISSING', 'tmux is not installed; install it, for example with `apt install tmux`')
    case 'too-old': {
      const { version, minimum } = probe
      throw new AppError('SETUP_MISSING', `tmux ${version.text} is too old; CAO needs ${minimum} or newer`)
    }
    case 'unreadable':
      throw new AppError('SETUP_MISSING', `the installed tmux does not tell its version: ${probe.detail}`)
  }
}
