import { expect, test } from 'vitest'
import { AppError } from '../domain/errors.ts'
import { protocolVersion } from '../protocol/version.ts'
import { requireSameProtocol } from './same-protocol.ts'

const file = { pid: 7, socket_path: '/s', tcp_port: null, version: '0.9.0', started_at: '' }

function refusal(protocol_version: number): string {
  try {
    requireSameProtocol({ ...file, protocol_version }, '1.0.0')
    return ''
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
    return error.message
  }
}

test('the same protocol is taken whatever the version is; another is refused with what to do about the older of the two', () => {
  expect(refusal(protocolVersion)).toBe('')
  expect(refusal(protocolVersion - 1)).toBe(
    `the server that runs (pid 7, version 0.9.0) speaks protocol ${protocolVersion - 1}, this cao 1.0.0 protocol ${protocolVersion}: "cao server stop" ends it, agents go on, and the next command starts this version`,
  )
  expect(refusal(protocolVersion + 1)).toContain(': use the cao of that version')
})
