/** Which variables an agent never gets from outside, because CAO sets them itself or a surrounding agent left them. Pure. */

/** Of Claude Code's own names those that say who the person is and how hard it shall think; the others are of a surrounding agent. */
export const claudeNames: ReadonlySet<string> = new Set([
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_EFFORT_LEVEL',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_SKIP_BEDROCK_AUTH',
  'CLAUDE_CODE_SKIP_VERTEX_AUTH',
  'CLAUDE_CODE_SKIP_FOUNDRY_AUTH',
])
/** Of Codex's own names those that say who the person is: taken over from their shell, and refused as a value of one launch. */
export const codexNames: ReadonlySet<string> = new Set(['CODEX_HOME', 'CODEX_API_KEY', 'CODEX_CA_CERTIFICATE'])
const reservedPrefixes = ['CLAUDE', 'CODEX_', '__MISE_', 'CAO_', 'TMUX']

export const isReservedVariable = (name: string): boolean =>
  reservedPrefixes.some((prefix) => name.startsWith(prefix)) && !claudeNames.has(name)
