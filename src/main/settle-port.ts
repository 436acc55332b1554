/**
 * Which TCP port to open, found out before anything is started. A port that somebody asked for and that is taken stops
 * the start; the default one only costs the TCP door, since local clients use the socket: so two homes can run at once.
 */
import { createServer } from 'node:net'
import { AppError } from '../domain/errors.ts'
import type { Log } from '../lib/log.ts'
import type { ServerConfig } from './server-config.ts'

/** The port to open; undefined: no TCP door. Errors: CONFLICT for a chosen port that is taken. */
export async function settlePort({ options, isPortChosen }: ServerConfig, log: Log): Promise<number | undefined> {
  const { 'server.host': host, 'server.port': port } = options
  if (port === 'none') return undefined
  if (port === 0 || (await isFree(host, port))) return port
  if (isPortChosen) {
    throw new AppError(
      'CONFLICT',
      `port ${port} on ${host} is taken: stop what listens there, or choose another with CAO_API_PORT`,
    )
  }
  log.write('warn', 'no TCP door: the default port is taken; choose another with CAO_API_PORT', { port })
  return undefined
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
