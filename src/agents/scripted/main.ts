/** Puts the scripted agent together on a real terminal; `src/main/scripted-agent.ts` only calls it. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../async/clock.ts'
import { Agent } from './agent.ts'
import { Conversation } from './conversation.ts'
import { Hooks } from './hooks.ts'
import { McpServers } from './mcp.ts'
import { type Options, parseOptions, readEnvFlags, usage } from './options.ts'
import { Screen } from './screen.ts'
import { Transcript } from './transcript.ts'

export type ProgramContext = {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly cwd: string
  readonly clock: Clock
}

/** Runs the agent to its end; gives the exit code. Errors: those of the file system. */
export async function runScriptedAgent(context: ProgramContext): Promise<number> {
  const outcome = parseOptions([...context.argv, ...readEnvFlags(context.env)])
  if (outcome.kind === 'help') {
    context.stdout.write(usage)
    return 0
  }
  if (outcome.kind === 'refused') {
    context.stdout.write(`scripted-agent: ${outcome.why}\n`)
    return 2
  }
  if (!context.stdin.isTTY) {
    context.stdout.write('scripted-agent: needs a terminal on its standard input\n')
    return 2
  }
  return runOnTerminal(context, outcome.options)
}

async function runOnTerminal(context: ProgramContext, options: Options): Promise<number> {
  const { clock, stdin, stdout, cwd } = context
  const sessionId = options.resume ?? options.sessionId ?? randomUUID()
  const transcript = new Transcript(options.transcript ?? join(dataDirOf(context, options), `${sessionId}.jsonl`))
  if (options.resume !== undefined && transcript.load().length === 0) {
    stdout.write(`scripted-agent: there is no conversation ${sessionId} in ${transcript.path}\n`)
    return 1
  }
  const screen = new Screen(
    clock,
    { write: (text) => void stdout.write(text), size: () => ({ cols: stdout.columns, rows: stdout.rows }) },
    options.screen,
  )
  const hookArgv = options.misbehaviour.ignoreHooks ? [] : options.hookArgv
  const hooks = new Hooks({ argv: hookArgv, clock, base: { sessionId, transcript: transcript.path } })
  const conversation = new Conversation({ clock, transcript, hooks, show: (lines) => screen.add(lines) })
  const { bracketedPaste } = options.misbehaviour
  stdin.setRawMode(true)
  screen.enter(bracketedPaste)
  stdout.on('resize', () => screen.resize())
  screen.add([{ mark: '✦ ', text: `scripted agent · ${options.model} · ${cwd}`, isDim: false }])
  if (options.resume !== undefined)
    conversation.note(`conversation ${sessionId}: ${conversation.replay()} lines before`)
  const systemPrompt = readText(options.systemPromptFile)
  conversation.record('session', cwd, { sessionId, systemPrompt })
  await using mcp = new McpServers(options.mcpConfig, definedEnv(context.env))
  const agent = new Agent({
    options,
    clock,
    screen,
    conversation,
    mcp,
    playbook: readText(options.playbook),
    cwd,
  })
  stdin.on('data', (bytes: Buffer) => agent.handleInput(bytes))
  if (options.mcpConfig !== undefined) void mcp.describe().then((text) => conversation.note(`MCP: ${text}`))
  await agent.start()
  const code = await agent.ended
  await conversation.tell('SessionEnd', { code })
  screen.leave(bracketedPaste)
  stdin.setRawMode(false)
  stdin.pause()
  return code
}

function dataDirOf(context: ProgramContext, options: Options): string {
  if (options.dataDir !== undefined) return options.dataDir
  const data = context.env['XDG_DATA_HOME'] ?? join(context.env['HOME'] ?? homedir(), '.local', 'share')
  return join(data, 'cao-scripted-agent')
}

function readText(path: string | undefined): string {
  return path === undefined ? '' : readFileSync(path, 'utf8')
}

function definedEnv(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
