import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { installOpencode, opencodeProgramIn, opencodeVersion } from './install.ts'

/** Stands in for npm: writes down its arguments and lays the program where npm would. */
const npmScript = `#!/bin/sh
printf '%s\\n' "$@" >"$(dirname "$0")/args"
[ -e "$(dirname "$0")/broken" ] && { echo 'no such version' >&2; exit 1; }
[ "$1" = install ] && [ "$2" = --prefix ] || exit 9
bin="$3/node_modules/opencode-${process.platform}-${process.arch}/bin"
mkdir -p "$bin" && echo program >"$bin/opencode" && chmod +x "$bin/opencode"
`

describe('installOpencode', () => {
  let folder: string
  const waiting = { signal: AbortSignal.timeout(10_000) }
  const install = () => installOpencode({ dir: join(folder, 'opencode'), npm: [join(folder, 'npm')] }, waiting)

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cao-opencode-install-'))
    writeFileSync(join(folder, 'npm'), npmScript)
    chmodSync(join(folder, 'npm'), 0o755)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('installs the one package of this machine without scripts and lock file, once', async () => {
    const program = opencodeProgramIn(join(folder, 'opencode'))
    expect(await install()).toEqual({ kind: 'installed', program, isNew: true })
    expect(existsSync(program)).toBe(true)
    const args = readFileSync(join(folder, 'args'), 'utf8').trim().split('\n')
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-save']
    expect(args.slice(3)).toEqual([...flags, `opencode-${process.platform}-${process.arch}@${opencodeVersion}`])
    rmSync(join(folder, 'args'))
    expect(await install()).toEqual({ kind: 'installed', program, isNew: false })
    expect(existsSync(join(folder, 'args'))).toBe(false)
  })

  it('says why npm failed and leaves nothing behind', async () => {
    writeFileSync(join(folder, 'broken'), '')
    expect(await install()).toEqual({ kind: 'failed', why: 'no such version' })
    expect(readdirSync(folder).sort()).toEqual(['args', 'broken', 'npm'])
  })
})
