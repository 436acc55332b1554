/**
 * `cao launch`: an agent in a session of its own. With `--headless` the message is a job, and its answer is all that
 * stands on stdout; without, the message is typed and the person is put in front of the agent.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { isAbsolute, resolve } from 'node:path'
import type { Client } from '../client/client.ts'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import { makeSessionName, parseSessionName } from '../domain/ids.ts'
import type { JobBody } from '../protocol/job.ts'
import type { ProfileBody } from '../protocol/profile.ts'
import type { CreateSessionParams, TerminalBody } from '../protocol/terminal.ts'
import { jobTimeoutMaxS, jobWaitMaxS, stepTimeoutDefaultS } from '../protocol/version.ts'
import { attachTo, requireScreen } from './attach.ts'
import { cleanLine } from './clean-text.ts'
import { parseAssignment, readClientEnv } from './client-env.ts'
import type { CliContext, Command, OptionValues } from './command.ts'
import { flagOption, numberOption, takePositionals, textOption, textsOption } from './parse-call.ts'
import { printAgentText, printJson, printLine } from './print.ts'
import { formatSent } from './send.ts'
import { takeBack } from './take-back.ts'

export const launchCommand: Command = {
  usage: `cao launch [MESSAGE] --agents NAME [OPTIONS]

  --agents NAME             profile of the agent: code_supervisor, developer, reviewer or one of your own
  --provider NAME           which CLI it is; else the profile's, else the first that is installed
  --session-name NAME       name of the session; "cao-" is put before it
  --working-directory DIR   where it works (the current directory)
  --worktree                a git worktree of its own, made from the last commit of DIR
  --model NAME              model, as the CLI spells it
  --allowed-tools TOOL      may be given several times; else the profile's, else its role's
  --env KEY=VALUE           may be given several times; environment of the agents of this session
  --headless                give it MESSAGE, wait, print its answer and nothing else
  --async                   with --headless: do not wait, print the id of the agent
  --timeout S               with --headless: how long to wait for the answer (${stepTimeoutDefaultS})
  --auto-approve            do not ask before the launch
  --yolo                    no tool limits at all, and do not ask
  --json                    print the agent (and its answer) as JSON; does not attach`,
  options: {
    agents: { type: 'string' },
    provider: { type: 'string' },
    'session-name': { type: 'string' },
    'working-directory': { type: 'string' },
    worktree: { type: 'boolean' },
    model: { type: 'string' },
    'allowed-tools': { type: 'string', multiple: true },
    env: { type: 'string', multiple: true },
    headless: { type: 'boolean' },
    async: { type: 'boolean' },
    timeout: { type: 'string', isNumber: true },
    'auto-approve': { type: 'boolean' },
    yolo: { type: 'boolean' },
  },
  async run({ options, positionals, context }) {
    const { MESSAGE: message = '' } = takePositionals<'MESSAGE'>(positionals, [], ['MESSAGE'])
    const params = readParams(options, context)
    const isHeadless = flagOption(options, 'headless')
    refuseMessage(message, isHeadless)
    if (!isHeadless && flagOption(options, 'async')) {
      throw new AppError('BAD_REQUEST', '--async goes with --headless')
    }
    const timeoutS = numberOption(options, 'timeout', { above: 0, most: jobTimeoutMaxS }) ?? stepTimeoutDefaultS
    const isJson = flagOption(options, 'json')
    if (!isHeadless && !isJson) await requireScreen(context)
    const client = await context.openClient()
    if (!isHeadless && !isJson) await askBefore(client, params, { options, context })
    const terminal = await create(client, context, params)
    noteLimits(context, terminal)
    noteWorktree(context, terminal)
    const launched: Launched = { client, context, terminal, isJson }
    if (message === '') return openFor(launched)
    if (!isHeadless) return typeAndOpen(launched, message)
    return runHeadless(launched, { message, timeoutS, isAsync: flagOption(options, 'async') })
  },
}

/** Errors: BAD_REQUEST. */
function refuseMessage(message: string, isHeadless: boolean): void {
  if (isHeadless && message.trim() === '') {
    throw new AppError('BAD_REQUEST', '--headless needs a MESSAGE: what should the agent do?')
  }
  if (message !== '' && message.trim() === '') {
    throw new AppError('BAD_REQUEST', 'the message is blank; leave it out to start an agent without one')
  }
}

type SessionParams = CreateSessionParams & { readonly session_name: string }

/** The agent. A launch that its person breaks off is taken back, where its session is certainly its own. */
async function create(client: Client, context: CliContext, params: CreateSessionParams): Promise<TerminalBody> {
  const { signal } = context
  signal.throwIfAborted()
  const own = params.session_name === undefined || params.session_name === '' ? makeSessionName(randomHex) : undefined
  const named: SessionParams = { ...params, session_name: own ?? params.session_name ?? '' }
  try {
    return await client.createSession(named, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
    if (own !== undefined) await takeBackAloud({ client, context, sessionName: own })
    else {
      const name = parseSessionName(named.session_name) ?? named.session_name
      context.note(
        `an agent may have been started in ${name}; "cao ls" shows it, "cao shutdown --session ${name}" ends it`,
      )
    }
    throw error
  }
}

const randomHex = (digits: number): string => randomBytes(digits).toString('hex').slice(0, digits)

async function takeBackAloud(launch: Parameters<typeof takeBack>[0]): Promise<void> {
  const { context, sessionName } = launch
  context.note(
    (await takeBack(launch))
      ? 'the launch was taken back; no agent of it is left'
      : `the launch could not be taken back; "cao shutdown --session ${sessionName}" ends its agent`,
  )
}

function readParams(options: OptionValues, context: CliContext): CreateSessionParams {
  const profile = textOption(options, 'agents')
  if (profile === undefined || profile === '') {
    throw new AppError('BAD_REQUEST', '--agents NAME is missing: say which profile, for example --agents developer')
  }
  const tools = flagOption(options, 'yolo') ? ['*'] : textsOption(options, 'allowed-tools')
  const env = textsOption(options, 'env')
  return {
    agent_profile: profile,
    provider: textOption(options, 'provider'),
    session_name: textOption(options, 'session-name'),
    working_directory: findDirectory(textOption(options, 'working-directory') ?? '.', context),
    allowed_tools: tools.length === 0 ? undefined : [...tools],
    model: textOption(options, 'model'),
    use_worktree: flagOption(options, 'worktree') ? true : undefined,
    env_vars: env.length === 0 ? undefined : Object.fromEntries(env.map(parseAssignment)),
    client_env: readClientEnv(context.env),
  }
}

/** An absolute one is good even where the current directory is gone. */
const findDirectory = (given: string, context: CliContext): string =>
  isAbsolute(given) ? given : resolve(context.cwd, given)

type Asking = { readonly options: OptionValues; readonly context: CliContext }

async function askBefore(client: Client, params: CreateSessionParams, { options, context }: Asking): Promise<void> {
  if (!context.isTerminal.stdin || !context.isTerminal.stdout) return
  if (flagOption(options, 'auto-approve') || flagOption(options, 'yolo')) return
  const profile = await client.getProfile(params.agent_profile, { signal: context.signal })
  const list = (params.allowed_tools === undefined ? toolsOf(profile) : [params.allowed_tools].flat()).join(', ')
  context.note(`${params.agent_profile} in ${params.working_directory}, tools: ${cleanLine(list)}`)
  const answer = await context.ask('Start it? [Y/n] ')
  if (!/^(y|yes|)$/i.test(answer.trim())) throw new AppError('BAD_REQUEST', 'not started')
}

function toolsOf(profile: ProfileBody): readonly string[] {
  const tools = profile['effective_tools']
  return Array.isArray(tools) ? tools.map(String) : []
}

type Launched = {
  readonly client: Client
  readonly context: CliContext
  readonly terminal: TerminalBody
  readonly isJson: boolean
}

async function openFor({ client, context, terminal, isJson }: Launched): Promise<number> {
  if (isJson) {
    await printJson(context, terminal)
    return 0
  }
  context.note(`${describe(terminal)}; it ${cleanLine(terminal.permission_mode)}`)
  context.note(`"cao ls" shows it, "cao shutdown --session ${terminal.session_name}" ends it`)
  const { argv } = await client.attachArgv(terminal.id, { signal: context.signal })
  return attachTo(context, argv)
}

/** What the CLI can not hold its agent to is said aloud. */
function noteLimits(context: CliContext, { limits_not_enforced }: TerminalBody): void {
  if (limits_not_enforced.length === 0) return
  context.note(
    `of what its profile says, this is not enforced or not served: ${cleanLine(limits_not_enforced.join('; '))}`,
  )
}

/** Where it works, and what is not there. */
function noteWorktree(context: CliContext, { worktree }: TerminalBody): void {
  if (worktree === null) return
  context.note(`its worktree is ${cleanLine(worktree.path)}, branch ${cleanLine(worktree.branch)}`)
  for (const note of worktree.notes) context.note(cleanLine(note))
}

const describe = ({ id, session_name, agent_profile, provider }: TerminalBody): string =>
  `${cleanLine(agent_profile)} (${provider}) runs as ${id} in ${session_name}`

async function typeAndOpen(launched: Launched, message: string): Promise<number> {
  const { client, context, terminal } = launched
  const sent = await client
    .sendInput(terminal.id, { message, sender_id: 'user' }, { signal: context.signal })
    .catch((error: unknown) => {
      context.note(`${describe(terminal)}, and goes on; "cao shutdown --session ${terminal.session_name}" ends it`)
      throw error
    })
  context.note(formatSent(sent))
  return openFor(launched)
}

type Task = { readonly message: string; readonly timeoutS: number; readonly isAsync: boolean }

async function runHeadless(launched: Launched, task: Task): Promise<number> {
  const { client, context, terminal, isJson } = launched
  const job = await startJob(launched, task)
  if (task.isAsync) {
    if (isJson) await printJson(context, { ...terminal, job_id: job.id })
    else await printLine(context, terminal.id)
    return 0
  }
  const ended = await waitForEnd(client, job, context.signal).catch((error: unknown) => {
    if (context.signal.aborted)
      context.note(`${describe(terminal)}, and goes on; "cao output ${terminal.id}" prints its answer`)
    throw error
  })
  if (isJson) await printJson(context, { ...terminal, job_id: job.id, state: ended.state, output: ended.output })
  if (ended.state !== 'answered') throw describeEnd(ended, terminal)
  if (!isJson) await printAgentText(context, ended.output ?? '')
  return 0
}

/** Ends the session again when the job can not even be started: nothing of a failed launch stays. */
async function startJob({ client, context, terminal }: Launched, task: Task): Promise<JobBody> {
  try {
    return await client.startJob(
      {
        kind: 'handoff',
        agent_profile: terminal.agent_profile,
        message: task.message,
        session_name: terminal.session_name,
        reuse_terminal_id: terminal.id,
        teardown: false,
        timeout: task.timeoutS,
        // Asking twice, after a broken connection, finds the same job.
        request_key: randomUUID(),
      },
      { signal: context.signal },
    )
  } catch (error) {
    const launch = { client, context, sessionName: terminal.session_name }
    if (context.signal.aborted) await takeBackAloud(launch)
    else if (!(await takeBack(launch))) {
      context.note(`its agent could not be ended; "cao shutdown --session ${terminal.session_name}" ends it`)
    }
    throw error
  }
}

async function waitForEnd(client: Client, started: JobBody, signal: AbortSignal): Promise<JobBody> {
  let job = started
  while (job.is_open) job = await client.getJob(job.id, jobWaitMaxS, { signal })
  return job
}

const codeOfState: Readonly<Partial<Record<JobBody['state'], ErrorCode>>> = {
  timed_out: 'TIMEOUT',
  cancelled: 'CONFLICT',
}

function describeEnd(job: JobBody, { id, session_name }: TerminalBody): AppError {
  const why = job.failure === null ? job.state.replace('_', ' ') : cleanLine(job.failure)
  return new AppError(
    codeOfState[job.state] ?? 'WORKER_FAILED',
    `${job.state === 'timed_out' ? '' : 'no answer: '}${why}; look at it with "cao explain ${id}", end it with "cao shutdown --session ${session_name}"`,
  )
}
