import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { systemClock } from '../../async/clock-system.ts'
import { silentLog } from '../../lib/log.ts'
import { describeBackend } from '../conformance.case.ts'
import { createTmuxBackend } from './tmux-backend.ts'

describeBackend({
  name: 'tmux',
  create: (dir) =>
    createTmuxBackend({
      clock: systemClock,
      log: silentLog,
      randomHex: (digits) => randomBytes(digits).toString('hex').slice(0, digits),
      runDir: join(dir, 'run'),
      terminalsDir: join(dir, 'terminals'),
      env: { PATH: process.env['PATH'], HOME: dir },
      tempDir: dir,
    }),
  crashServer: (facts) => process.kill(Number(facts.details['pid']), 'SIGKILL'),
})
