import { describe, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { compareVersions, judgeVersion, parseVersion, probeVersion } from './version.ts'

describe('the version of tmux', () => {
  test.each([
    ['tmux 3.3a\n', 'ok'],
    ['tmux 3.2a', 'ok'],
    ['tmux 3.2', 'too-old'],
    ['tmux 2.9a', 'too-old'],
    ['tmux 10.0', 'ok'],
    ['tmux next-3.8', 'ok'],
    ['tmux 3.6-rc', 'ok'],
    ['tmux master', 'ok'],
    ['tmux openbsd-7.5', 'ok'],
    ['screen 4.0', 'unreadable'],
    ['', 'unreadable'],
  ])('%j is %s', (output, kind) => {
    expect(judgeVersion(output).kind).toBe(kind)
  })

  test('letters come after the release without one', () => {
    const sorted = ['3.3a', '3.2a', '3.10', '3.3', '3.4'].toSorted((a, b) => {
      const [left, right] = [parseVersion(`tmux ${a}`), parseVersion(`tmux ${b}`)]
      return left === undefined || right === undefined ? 0 : compareVersions(left, right)
    })
    expect(sorted).toEqual(['3.2a', '3.3', '3.3a', '3.4', '3.10'])
  })

  test('the installed one is told, a missing one and one that is no tmux too', async () => {
    const env = { PATH: process.env['PATH'] ?? '' }
    expect((await probeVersion(systemClock, 'tmux', env)).kind).toBe('ok')
    expect((await probeVersion(systemClock, 'no-such-tmux', env)).kind).toBe('missing')
    expect((await probeVersion(systemClock, 'false', env)).kind).toBe('unreadable')
  })
})
