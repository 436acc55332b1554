import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TerminalId } from '../../domain/ids.ts'
import {
  launchScript,
  prepareLaunch,
  readAgentPid,
  readExit,
  readWrapper,
  terminalFiles,
  writeWrapper,
} from './launch-files.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cao-launch-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const files = () => terminalFiles(dir, 'abcdef12' as TerminalId)
const plan = { argv: ['/bin/true', "it's"], cwd: '/tmp', env: { A: "1'2" } }

describe('the files of a launch', () => {
  test('the script sets what was planned and becomes the agent', () => {
    const lines = launchScript(files(), plan).split('\n')
    expect(lines).toContain(`export A='1'\\''2'`)
    expect(lines.at(-2)).toBe(`exec '/bin/true' 'it'\\''s'`)
  })

  test('a name that is none, and a NUL byte, are refused before anything is written', () => {
    expect(() => launchScript(files(), { ...plan, env: { 'A;touch x': '1' } })).toThrow('can not be the name')
    expect(() => launchScript(files(), { ...plan, argv: ['/bin/a', 'x\0y'] })).toThrow('NUL')
  })

  test('a file that is half-written is not read, and a new launch forgets the last one', () => {
    const own = files()
    expect(prepareLaunch(own, plan)).toEqual({ wasMade: true })
    expect([readExit(own), readAgentPid(own), readWrapper(own)]).toEqual([undefined, undefined, undefined])
    writeFileSync(own.pid, '12')
    writeFileSync(own.exit, '1')
    expect([readExit(own), readAgentPid(own)]).toEqual([undefined, undefined])
    writeFileSync(own.pid, '123\n')
    writeFileSync(own.exit, '139\n')
    writeWrapper(own, { pid: 7, startedAt: 'Mon Jan 1 00:00:00' })
    expect(readExit(own)).toMatchObject({ code: 139, signal: 'SIGSEGV' })
    expect([readAgentPid(own), readWrapper(own)]).toEqual([123, { pid: 7, startedAt: 'Mon Jan 1 00:00:00' }])
    expect(prepareLaunch(own, plan)).toEqual({ wasMade: false })
    expect([readExit(own), readAgentPid(own), readWrapper(own)]).toEqual([undefined, undefined, undefined])
  })
})
