/** A scripted agent in a pane of a private tmux server, for the tests of the agent alone: no code of ours in between. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TranscriptLine } from './transcript.ts'

const run = promisify(execFile)
const entry = join(import.meta.dirname, '..', '..', 'main', 'scripted-agent.ts')
const waitLimitMs = 10_000
const pollGapMs = 20

export type HookCall = {
  readonly event: string
  /** Lines in the record when the hook ran. */
  readonly records: number
  readonly payload: Record<string, unknown>
}

/** Owns: its tmux server and its folder; dispose ends both. */
export class TmuxPane implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'cao-agent-'))
  readonly transcriptPath = join(this.folder, 'transcript.jsonl')
  readonly hookPath = join(this.folder, 'hooks')
  readonly #socket = join(this.folder, 's')
  #size = { cols: 80, rows: 24 }

  /** Starts tmux and the agent in it, and waits for its composer unless told not to. */
  static async start(
    flags: readonly string[] = [],
    options: { readonly cols?: number; readonly rows?: number; readonly waitFor?: string } = {},
  ): Promise<TmuxPane> {
    const pane = new TmuxPane()
    pane.#size = { cols: options.cols ?? 80, rows: options.rows ?? 24 }
    await pane.#tmux('-f', '/dev/null', 'start-server', ';', 'set', '-g', 'exit-empty', 'off')
    await pane.#tmux('set', '-g', 'remain-on-exit', 'on')
    await pane.launch(flags)
    await pane.waitForScreen(options.waitFor ?? 'Enter to send')
    return pane
  }

  /** Starts the agent in a fresh window, the former one's pane removed. */
  async launch(flags: readonly string[]): Promise<void> {
    const { cols, rows } = this.#size
    const own = ['--transcript', this.transcriptPath, ...flags]
    const argv = [process.execPath, entry, ...own]
    await this.#tmux(
      'new-session',
      '-d',
      '-s',
      'next',
      '-x',
      String(cols),
      '-y',
      String(rows),
      '-c',
      this.folder,
      ...argv,
    )
    await this.#tmux('kill-session', '-t', '=agent').catch(() => undefined)
    await this.#tmux('rename-session', '-t', '=next', 'agent')
  }

  /** The flag for a hook that adds `EVENT RECORDS JSON` lines to a file: RECORDS counts the lines of the record. */
  hookFlags(): readonly string[] {
    const script = `n=$(wc -l <'${this.transcriptPath}'); { printf '%s %d ' "$1" "$n"; cat; echo; } >>'${this.hookPath}'`
    return ['--hook-argv', JSON.stringify(['/bin/sh', '-c', script, 'hook'])]
  }

  get hooks(): readonly HookCall[] {
    if (!existsSync(this.hookPath)) return []
    const lines = readFileSync(this.hookPath, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => {
      const [, event = '', records, json = ''] = /^(\S+) (\d+) (.*)$/.exec(line) ?? []
      return { event, records: Number(records), payload: JSON.parse(json) as Record<string, unknown> }
    })
  }

  get records(): readonly TranscriptLine[] {
    if (!existsSync(this.transcriptPath)) return []
    const lines = readFileSync(this.transcriptPath, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as TranscriptLine)
  }

  texts(type: TranscriptLine['type']): readonly string[] {
    return this.records.filter((line) => line.type === type).map((line) => line.text)
  }

  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux('send-keys', '-t', '=agent:', ...keys)
  }

  async type(text: string): Promise<void> {
    // tmux takes a semicolon at the end of an argument for the end of the command.
    await this.#tmux('send-keys', '-t', '=agent:', '-l', '--', text.replace(/;$/, '\\;'))
  }

  async paste(text: string): Promise<void> {
    const file = join(this.folder, 'paste')
    writeFileSync(file, text)
    await this.#tmux('load-buffer', '-b', 'p', file)
    await this.#tmux('paste-buffer', '-p', '-r', '-d', '-b', 'p', '-t', '=agent:')
  }

  /** Types a message and sends it. */
  async say(text: string): Promise<void> {
    await this.paste(text)
    await this.press('Enter')
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#tmux('resize-window', '-t', '=agent:', '-x', String(cols), '-y', String(rows))
  }

  async screen(): Promise<string> {
    return this.#tmux('capture-pane', '-p', '-J', '-t', '=agent:')
  }

  async format(format: string): Promise<string> {
    return (await this.#tmux('display-message', '-p', '-t', '=agent:', format)).trim()
  }

  waitForScreen(part: string | RegExp): Promise<string> {
    return waitFor(`the screen to show ${part}`, async () => {
      const screen = await this.screen()
      return (typeof part === 'string' ? screen.includes(part) : part.test(screen)) ? screen : undefined
    })
  }

  /** Waits until the record has `count` lines of `type`; gives their texts. */
  waitForRecords(type: TranscriptLine['type'], count: number): Promise<readonly string[]> {
    return waitFor(`${count} ${type} lines in the record`, () => {
      const texts = this.texts(type)
      return Promise.resolve(texts.length >= count ? texts : undefined)
    })
  }

  /** The exit code, once the agent has ended. */
  waitForExit(): Promise<string> {
    return waitFor('the agent to end', async () => {
      const [dead, pid, code = ''] = (await this.format('#{pane_dead} #{pid} #{pane_dead_status}')).split(' ')
      // Some builds of tmux lose the signal that tells of a child's end.
      if (dead === '1' && code === '') process.kill(Number(pid), 'SIGCHLD')
      return dead === '1' && code !== '' ? code : undefined
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux('kill-server').catch(() => undefined)
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    const { PATH = '' } = process.env
    const env = { PATH, LC_ALL: 'C.UTF-8', HOME: this.folder, TERM: 'xterm-256color' }
    const { stdout } = await run('tmux', ['-u', '-S', this.#socket, ...args], { env, maxBuffer: 64 * 1024 * 1024 })
    return stdout
  }
}

/** Asks again and again until there is a value. Errors: an Error that names `what`, after ten seconds. */
export async function waitFor<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + waitLimitMs
  for (;;) {
    const value = await find()
    if (value !== undefined) return value
    if (performance.now() > endMs) throw new Error(`waited ${waitLimitMs} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pollGapMs))
  }
}
