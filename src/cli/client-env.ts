/** What a command tells the server of the environment that it was called in. */
import { AppError } from '../domain/errors.ts'
import type { CliContext } from './command.ts'

/** As upstream: an ASCII identifier, a value under 2 KiB. */
const envValueBytesMax = 2048

export function parseAssignment(text: string): [string, string] {
  const cut = text.indexOf('=')
  const key = text.slice(0, Math.max(0, cut))
  const value = text.slice(cut + 1)
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) {
    throw new AppError(
      'BAD_REQUEST',
      `--env takes KEY=VALUE, KEY of letters, digits and _, and not "${cut < 0 ? text : key}"`,
    )
  }
  if (Buffer.byteLength(value) >= envValueBytesMax) {
    throw new AppError(
      'BAD_REQUEST',
      `the value of --env ${key} has ${envValueBytesMax} bytes or more; put it into a file`,
    )
  }
  return [key, value]
}

/** Our whole environment but what belongs to a terminal of ours; the server picks from it what agents may have. */
export function readClientEnv(env: CliContext['env']): Record<string, string> {
  const entries = Object.entries(env).filter(([name, value]) => value !== undefined && !/^(CAO_|TMUX)/.test(name))
  return Object.fromEntries(entries) as Record<string, string>
}
