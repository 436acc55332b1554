/**
 * The stable programs that agents call, written into CAO_HOME at each start. An agent that was started by an older
 * version keeps calling the same path; what is behind it may change, its protocol version says so.
 */
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Shims } from '../app/context.ts'

export const shimProtocolVersion = 1

/**
 * `hook SPOOL EVENT`, payload on stdin: one file, then one line in the index, which gives the order. Always exit 0
 * within milliseconds: an agent must never wait for us or fail by us. No interpreter but sh, no network.
 */
const hookScript = `#!/bin/sh
# CAO hook shim, protocol ${shimProtocolVersion}
exec 2>/dev/null
umask 077
d=$1; t=$d/.$$
if cat >"$t"; then
  f=$$; while [ -e "$d/$f.json" ]; do f=x$f; done
  mv "$t" "$d/$f.json" && echo "$f.json $2" >>"$d/index"
else cat >/dev/null
fi
exit 0
`

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** Writes the shims (atomically: an agent may be calling one right now). */
export async function writeShims(dir: string, mcpArgv: readonly string[]): Promise<Shims> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const hook = join(dir, 'hook')
  const mcp = join(dir, 'cao-mcp-server')
  await writeProgram(hook, hookScript)
  await writeProgram(
    mcp,
    `#!/bin/sh\n# CAO MCP shim, protocol ${shimProtocolVersion}\nexec ${mcpArgv.map(quote).join(' ')} "$@"\n`,
  )
  return { hookArgv: [hook], mcpArgv: [mcp] }
}

async function writeProgram(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.new`
  await writeFile(fresh, text, { mode: 0o700 })
  await chmod(fresh, 0o700)
  await rename(fresh, path)
}
