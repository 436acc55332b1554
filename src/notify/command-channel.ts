/**
 * A person's own command: argv words from the options, the notices as JSON on stdin and in short in a few variables. It gets what
 * a desktop notifier needs of the environment and nothing else.
 */
import type { Clock } from '../async/clock.ts'
import { runProcess } from '../process/run-process.ts'
import type { Channel, ToldOutcome } from './channel.ts'
import { cleanNotice, type NoticePayload } from './notice.ts'

export const commandLimitMs = 20_000
const outputBytesMax = 4 * 1024
/** As a shell says it: not found, not to be run. */
const finalCodes = [126, 127]

const names = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TZ',
  'TMPDIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
]

export type CommandOptions = {
  readonly clock: Clock
  readonly argv: readonly string[]
  readonly cwd: string
  /** The server's; picked from by name. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

export function createCommandChannel(options: CommandOptions): Channel {
  const { clock, argv, cwd, timeoutMs = commandLimitMs } = options
  const picked = names.flatMap((name) => (options.env[name] === undefined ? [] : [[name, options.env[name]]]))
  const base = Object.fromEntries(picked) as Record<string, string>
  return {
    name: 'command',
    async tell(payload, { signal }) {
      const result = await runProcess({
        clock,
        argv,
        cwd,
        env: { ...base, ...describe(payload) },
        timeoutMs,
        signal,
        stdin: `${JSON.stringify(payload)}\n`,
        outputBytesMax,
      })
      switch (result.kind) {
        case 'aborted':
          throw result.reason
        case 'not-started':
          return { kind: 'failed', why: `it did not start: ${result.detail}`, isFinal: false }
        case 'timed-out':
          return { kind: 'failed', why: `it did not end within ${timeoutMs / 1_000} s`, isFinal: false }
        case 'exited':
          return judge(result)
      }
    },
  }
}

function judge({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }): ToldOutcome {
  const said = cleanNotice(`${stderr} ${stdout}`)
  if (code === 0) return { kind: 'told', detail: said }
  const why = `it ended with code ${code}${said === '' ? '' : `: ${said}`}`
  return { kind: 'failed', why, isFinal: finalCodes.includes(code) }
}

function describe({ type, title, text, notices, more }: NoticePayload): Record<string, string> {
  return {
    CAO_NOTIFY_TYPE: type,
    CAO_NOTIFY_TITLE: title,
    CAO_NOTIFY_TEXT: text,
    CAO_NOTIFY_KINDS: [...new Set(notices.map(({ kind }) => kind))].join(','),
    CAO_NOTIFY_COUNT: String(notices.length + more),
  }
}
