import { expect, test } from 'vitest'
import { findUnitPath, judgeLogout } from './logout.ts'

const facts = { killsUserProcesses: false, isLingering: false, user: 'ann' }
const session = '/user.slice/user-1000.slice/session-3.scope'
const manager = '/user.slice/user-1000.slice/user@1000.service/app.slice/run-u7.scope'

test.each([
  ['no systemd', { ...facts, unitPath: undefined }, undefined, ''],
  ['a session that is left alone', { ...facts, unitPath: session }, 'ok', 'login session 3; a logout leaves them'],
  [
    'a session that is ended',
    { ...facts, unitPath: session, killsUserProcesses: true },
    'note',
    'login session 3: a logout ends them; "loginctl enable-linger ann"',
  ],
  [
    'a session, nobody knows',
    { ...facts, unitPath: session, killsUserProcesses: undefined },
    'note',
    'where KillUserProcesses is on',
  ],
  [
    'the own manager',
    { ...facts, unitPath: manager },
    'note',
    'ends with the last logout, and they with it: "loginctl enable-linger ann"',
  ],
  ['the own manager, lingering', { ...facts, unitPath: manager, isLingering: true }, 'ok', 'which lingers'],
  ['a system service', { ...facts, unitPath: '/system.slice/x.service' }, 'ok', 'no login holds the agents'],
] as const)('%s', (_name, given, level, words) => {
  const found = judgeLogout(given)
  expect([found?.level, found?.detail.includes(words) ?? true]).toEqual([level, true])
})

test("the place is read from either form of the kernel's file", () => {
  expect(findUnitPath(`0::${session}\n`)).toBe(session)
  expect(findUnitPath(`9:name=systemd:${manager}\n4:memory:/x\n0::/\n`)).toBe(manager)
  expect(findUnitPath('9:name=systemd:/\n0::/\n')).toBeUndefined()
})
