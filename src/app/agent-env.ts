/**
 * What of the launching client's environment an agent gets: an allow-list, so that no secret of another program
 * and no sign of a surrounding agent or tmux reaches it. Pure.
 */
import { AppError } from '../domain/errors.ts'
import { claudeNames, codexNames, isReservedVariable } from '../domain/variable-names.ts'

const names = new Set([
  'HOME',
  'PATH',
  'SHELL',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  'DO_NOT_TRACK',
  'SSH_AUTH_SOCK',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'COLORTERM',
  'EDITOR',
  'VISUAL',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
])
const prefixes = [
  'LC_',
  'AWS_',
  'KIRO_',
  'MISE_',
  'ANTHROPIC_',
  'OPENAI_',
  'GEMINI_',
  'GOOGLE_',
  'OPENCODE_',
  'COPILOT_',
  'KIMI_',
  'QWEN_',
]
/** Longer values are left out, as upstream does. Units: bytes. */
export const valueBytesMax = 2_048

const isAllowed = (name: string): boolean =>
  names.has(name) || claudeNames.has(name) || codexNames.has(name) || prefixes.some((prefix) => name.startsWith(prefix))

/** Without the keys and settings of any vendor: for commands of a project, which are no agent. */
export function selectPlainEnv(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const isPlain = (name: string) => names.has(name) || name.startsWith('LC_')
  return Object.fromEntries(Object.entries(selectClientEnv(env)).filter(([name]) => isPlain(name)))
}

/** The client's environment after the allow-list. */
export function selectClientEnv(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const picked: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !isAllowed(name)) continue
    if (name !== 'PATH' && Buffer.byteLength(value) > valueBytesMax) continue
    picked[name] = value
  }
  return picked
}

/** What a person keeps for all agents (`cao env`): they get it over what a shell happened to hold, but for what is CAO's own. */
export function selectKeptEnv(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !isReservedVariable(name)))
}

/** Checks variables that a person asks for by `--env`. Errors: BAD_REQUEST naming the key, never the value. */
export function checkExtraEnv(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new AppError('BAD_REQUEST', `--env: ${JSON.stringify(name)} is no variable name`)
    if (isReservedVariable(name)) {
      throw new AppError(
        'BAD_REQUEST',
        `--env: ${name} is set by CAO itself or would confuse the agent; choose another name`,
      )
    }
    if (Buffer.byteLength(value) > valueBytesMax || value.includes('\0')) {
      throw new AppError(
        'BAD_REQUEST',
        `--env: the value of ${name} is longer than ${valueBytesMax} bytes or holds a NUL`,
      )
    }
  }
  return env
}
