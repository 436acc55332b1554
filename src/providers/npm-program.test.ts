import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type InstallOutcome, installProgram, type NpmProgram, programIn } from './npm-program.ts'

const program: NpmProgram = { packageName: '@vendor/agent-for-here', version: '1.2.3', programPath: 'bin/agent' }

/** Stands in for npm: writes down its arguments and lays the program where npm would. */
const npmScript = `#!/bin/sh
printf '%s\\n' "$@" >"$(dirname "$0")/args"
[ -e "$(dirname "$0")/broken" ] && { echo 'no such version' >&2; exit 1; }
[ "$1" = install ] && [ "$2" = --prefix ] || exit 9
bin="$3/node_modules/@vendor/agent-for-here/bin"
[ -e "$(dirname "$0")/empty" ] && exit 0
[ -e "$(dirname "$0")/slow" ] && { mkdir "$(dirname "$0")/turn" 2>/dev/null || sleep 0.5; }
mkdir -p "$bin" && echo program >"$bin/agent" && chmod +x "$bin/agent"
[ -e "$(dirname "$0")/quick" ] || ls -i "$bin/agent" | cut -d' ' -f1 >"$(dirname "$0")/quick"
`

const isNew = (outcome: InstallOutcome): number => Number(outcome.kind === 'installed' && outcome.isNew)

describe('installProgram', () => {
  let folder: string
  const waiting = { signal: AbortSignal.timeout(10_000) }
  const dir = () => join(folder, 'agent')
  const install = () => installProgram(program, { dir: dir(), npm: [join(folder, 'npm')] }, waiting)

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cao-npm-program-'))
    writeFileSync(join(folder, 'npm'), npmScript)
    chmodSync(join(folder, 'npm'), 0o755)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('installs the one package of this machine without scripts and lock file, once', async () => {
    const path = programIn(dir(), program)
    expect(await install()).toEqual({ kind: 'installed', program: path, isNew: true })
    expect(existsSync(path)).toBe(true)
    const args = readFileSync(join(folder, 'args'), 'utf8').trim().split('\n')
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-save']
    expect(args.slice(3)).toEqual([...flags, '@vendor/agent-for-here@1.2.3'])
    rmSync(join(folder, 'args'))
    expect(await install()).toEqual({ kind: 'installed', program: path, isNew: false })
    expect(existsSync(join(folder, 'args'))).toBe(false)
  })

  it('is done by the first of two at once, and what the second finds is left as it is', async () => {
    writeFileSync(join(folder, 'slow'), '')
    const [one, two] = await Promise.all([install(), install()])
    const path = programIn(dir(), program)
    expect([one, two].toSorted((a, b) => isNew(a) - isNew(b))).toEqual([
      { kind: 'installed', program: path, isNew: false },
      { kind: 'installed', program: path, isNew: true },
    ])
    // The quick one's file, not a copy laid over it.
    expect(String(statSync(path).ino)).toBe(readFileSync(join(folder, 'quick'), 'utf8').trim())
    expect(readdirSync(folder).filter((name) => name.includes('making'))).toEqual([])
  })

  it('replaces what an earlier try left broken', async () => {
    mkdirSync(join(dir(), 'node_modules'), { recursive: true })
    expect(await install()).toMatchObject({ kind: 'installed', isNew: true })
  })

  it('does not take a package without its program for an installation', async () => {
    writeFileSync(join(folder, 'empty'), '')
    const why = '@vendor/agent-for-here@1.2.3 holds no program for this machine'
    expect(await install()).toEqual({ kind: 'failed', why })
    expect(existsSync(dir())).toBe(false)
  })

  it('says why npm failed and leaves nothing behind', async () => {
    writeFileSync(join(folder, 'broken'), '')
    expect(await install()).toEqual({ kind: 'failed', why: 'no such version' })
    expect(readdirSync(folder).toSorted()).toEqual(['args', 'broken', 'npm'])
  })
})
