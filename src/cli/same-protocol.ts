/** A command and a server of different versions: told in one sentence where they would misread one another. Pure. */
import { AppError } from '../domain/errors.ts'
import type { ServerFile } from '../protocol/home.ts'
import { protocolVersion } from '../protocol/version.ts'

/** Errors: CONFLICT that says which of the two is older, and what to do. */
export function requireSameProtocol(file: ServerFile, ownVersion: string): void {
  const { pid, version, protocol_version } = file
  if (protocol_version === protocolVersion) return
  const both = `protocol ${protocol_version}, this cao ${ownVersion} protocol ${protocolVersion}`
  const cure =
    protocol_version > protocolVersion
      ? 'use the cao of that version'
      : '"cao server stop" ends it, agents go on, and the next command starts this version'
  throw new AppError('CONFLICT', `the server that runs (pid ${pid}, version ${version}) speaks ${both}: ${cure}`)
}
