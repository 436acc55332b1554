/**
 * The scripted model server as a program of its own: `scripted-model [--port N] [--detached]`, 0 for any free port. Prints
 * `{"port":N}` on one line and ends when its stdin ends (not with `--detached`) or it is told to.
 */
import { parseArgs } from 'node:util'
import { openScriptedModel } from '../agents/scripted-model/server.ts'
import { systemClock } from '../async/clock-system.ts'

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, detached: { type: 'boolean', default: false } },
})
const model = await openScriptedModel({ clock: systemClock, port: Number(values.port) })
process.stdout.write(`${JSON.stringify({ port: model.port })}\n`)

const ended = Promise.withResolvers<void>()
if (!values.detached) process.stdin.resume().once('end', ended.resolve)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.resolve())
await ended.promise
await model[Symbol.asyncDispose]()
// A stdin that is still open would keep the process.
process.stdin.destroy()
