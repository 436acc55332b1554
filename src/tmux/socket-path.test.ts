import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeTempDir } from './private-server.case.ts'
import { chooseSocketPath, ensurePrivateDirectory, socketPathBytesMax } from './socket-path.ts'

const input = { runDir: '/var/lib/a/.cao/run', runtimeDir: '/run/user/1000', tempDir: '/tmp', uid: 1000 }

describe('the path of the socket', () => {
  test('lies in the run directory when that is short enough, in bytes', () => {
    expect(chooseSocketPath(input)).toBe('/var/lib/a/.cao/run/tmux.sock')
    const limit = socketPathBytesMax - '/tmux.sock'.length
    const fits = `/${'a'.repeat(limit - 1)}`
    expect(chooseSocketPath({ ...input, runDir: fits })).toBe(`${fits}/tmux.sock`)
    expect(chooseSocketPath({ ...input, runDir: `${fits}a` })).toMatch(/^\/run\/user\/1000\/cao-1000-[0-9a-f]{16}\/s$/)
    expect(chooseSocketPath({ ...input, runDir: `/${'é'.repeat(60)}` })).toMatch(/^\/run\/user/)
  })

  test('is hashed beside, the same each time, another for another home, and always short enough', () => {
    const deep = { ...input, runDir: `/${'x'.repeat(200)}` }
    expect(chooseSocketPath(deep)).toBe(chooseSocketPath(deep))
    expect(chooseSocketPath(deep)).not.toBe(chooseSocketPath({ ...deep, runDir: `${deep.runDir}y` }))
    expect(chooseSocketPath({ ...deep, runtimeDir: undefined })).toMatch(/^\/tmp\/cao-/)
    const deepTemp = chooseSocketPath({ ...deep, runtimeDir: '', tempDir: `/${'t'.repeat(150)}` })
    expect(Buffer.byteLength(deepTemp)).toBeLessThanOrEqual(socketPathBytesMax)
  })

  test('its directory is made private, and refused when others may write it', () => {
    using dir = makeTempDir()
    const path = join(dir.path, 'a', 'b')
    const uid = process.getuid?.() ?? 0
    expect(ensurePrivateDirectory(path, uid)).toEqual({ kind: 'ok' })
    expect(statSync(path).mode & 0o777).toBe(0o700)
    chmodSync(path, 0o770)
    expect(ensurePrivateDirectory(path, uid)).toMatchObject({ kind: 'unsafe' })
    expect(ensurePrivateDirectory(dir.path, uid + 1)).toMatchObject({ kind: 'unsafe' })
  })
})
