/** The scripted agent as a program of its own: the terminal and the real clock, nothing else. */
import { runScriptedAgent } from '../agents/scripted/main.ts'
import { systemClock } from '../async/clock-system.ts'

const code = await runScriptedAgent({
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  cwd: process.cwd(),
  clock: systemClock,
})
process.exit(code)
