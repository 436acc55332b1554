/** The `cao-server` program: one CAO until it is told to stop. Agents outlive it. */
import { parseArgs } from 'node:util'
import { AppError } from '../domain/errors.ts'
import { version } from '../lib/version.ts'
import { readServerConfig } from './server-config.ts'
import { startServer } from './start-server.ts'

const usage = `cao-server [--host HOST] [--port PORT|none] [--no-auth]

Runs the CAO server for CAO_HOME in the foreground until SIGTERM or Ctrl-C. Agents go on without it and are
taken up again at the next start. \`cao server start\` runs it in the background.
  --host HOST    loopback address of the TCP door (CAO_API_HOST, default 127.0.0.1)
  --port PORT    its port, 0 for any free one, none for no TCP door (CAO_API_PORT, default 9889)
  --no-auth      let everybody on this machine in without a token (for upstream's clients)`

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      host: { type: 'string' },
      port: { type: 'string' },
      'no-auth': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'V' },
    },
  })
  if (values.help === true) return say(usage)
  if (values.version === true) return say(version)
  const stopped = Promise.withResolvers<string>()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stopped.resolve(signal))
  const { host, port } = values
  const config = await readServerConfig(process.env, {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    noAuth: values['no-auth'] === true,
  })
  const server = await startServer(config)
  const tcp =
    server.file.tcp_port === null ? '' : ` and http://${config.options['server.host']}:${server.file.tcp_port}`
  say(`cao-server ${version}: ready on ${server.file.socket_path}${tcp}`)
  // A log or terminal that goes away must not take the server with it.
  process.stdout.on('error', () => undefined)
  await stopped.promise
  await server[Symbol.asyncDispose]()
  return 0
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  const isKnown = error instanceof AppError
  process.stderr.write(
    `Error: ${isKnown ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  process.exitCode = isKnown ? error.row.exitCode : 70
}
// What is still open then (a stream of a client that went away) must not keep a stopped server alive.
process.exit()
