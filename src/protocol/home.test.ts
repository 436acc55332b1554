import { expect, test } from 'vitest'
import { layoutOf, parseServerFile, resolveHome, upstreamHome } from './home.ts'

test('everything of a CAO lies below its home', () => {
  const { home, ...paths } = layoutOf('/h')
  expect(home).toBe('/h')
  expect(Object.values(paths).filter((path) => !path.startsWith('/h/'))).toEqual([])
  expect(new Set(Object.values(paths)).size).toBe(Object.values(paths).length)
})

test('CAO_HOME wins over CAO_HOME_DIR, and an empty variable counts as unset', () => {
  expect([
    resolveHome({ CAO_HOME: '/a', CAO_HOME_DIR: '/b' }, '/u'),
    resolveHome({ CAO_HOME: '', CAO_HOME_DIR: '/b' }, '/u'),
    resolveHome({}, '/u'),
    resolveHome({ CAO_HOME: '~/c' }, '/u'),
  ]).toEqual(['/a', '/b', '/u/.cao', '/u/c'])
})

test("upstream's home is where its own variable says, whatever ours is", () => {
  expect([
    upstreamHome({ CAO_HOME: '/a', CAO_HOME_DIR: '/b' }, '/u'),
    upstreamHome({ CAO_HOME: '/a', CAO_HOME_DIR: '~/b' }, '/u'),
    upstreamHome({ CAO_HOME: '/a', CAO_HOME_DIR: '' }, '/u'),
  ]).toEqual(['/b', '/u/b', '/u/.aws/cli-agent-orchestrator'])
})

test('a server file that is half written is no server file', () => {
  const file = {
    pid: 7,
    socket_path: '/s',
    tcp_port: null,
    version: '1',
    protocol_version: 1,
    started_at: '2026-01-01T00:00:00Z',
  }
  const text = JSON.stringify(file)
  expect(parseServerFile(text)).toEqual(file)
  expect(parseServerFile(text.slice(0, 20))).toBeUndefined()
  expect(parseServerFile('{"pid":"7"}')).toBeUndefined()
  expect(parseServerFile('null')).toBeUndefined()
})
