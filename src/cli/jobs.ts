/** `cao jobs`: work that was given to agents: how it stands, its result, and calling it off or trying it anew. */
import { AppError } from '../domain/errors.ts'
import { parseJobId } from '../domain/ids.ts'
import type { JobBody, JobLineBody } from '../protocol/job.ts'
import { jobWaitMaxS } from '../protocol/version.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import { readClientEnv } from './client-env.ts'
import type { Call, Command } from './command.ts'
import { formatAge } from './format-time.ts'
import { flagOption, numberOption, takePositionals, textOption } from './parse-call.ts'
import { printAgentText, printJson, printLine } from './print.ts'
import { type Column, formatTable } from './table.ts'

export const jobsCommand: Command = {
  usage: `cao jobs [list] [--state STATE] [--caller ID] [--worker ID] [--limit N]
       cao jobs show JOB
       cao jobs wait JOB [--timeout S]
       cao jobs cancel JOB
       cao jobs retry JOB [--timeout S]

  list     the newest first: work that agents or scripts gave to other agents
  show     one of them, with its task and its result
  wait     waits for its end and prints the answer; exits with 11 when there is none, with 12 when it is not over in time
  cancel   ends it; a worker that was made for it ends, any other is interrupted
  retry    gives the work of one that was not answered to a new worker, as a new job

  --state STATE  open, ended, created, running, answered, failed, timed_out or cancelled
  --caller ID    only those that this agent asked for
  --worker ID    only those that this agent works on
  --limit N      at most so many (50)
  --timeout S    with wait: how long to wait (no limit); with retry: how long the work may take (as before)
  --json         print it as JSON`,
  options: {
    state: { type: 'string' },
    caller: { type: 'string' },
    worker: { type: 'string' },
    limit: { type: 'string', isNumber: true },
    timeout: { type: 'string', isNumber: true },
  },
  async run(call) {
    const [name = 'list', ...positionals] = call.positionals
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined
    if (action === undefined) {
      throw new AppError('BAD_REQUEST', `"${name}" is none of ${Object.keys(actions).join(', ')}`)
    }
    return action({ ...call, positionals })
  },
}

const actions: Readonly<Record<string, (call: Call) => Promise<number>>> = { list, show, wait, cancel, retry }

const columns = (nowMs: number): readonly Column<JobLineBody>[] => [
  { title: 'JOB', text: ({ id }) => id },
  { title: 'AGE', text: ({ created_at }) => formatAge(nowMs - Date.parse(created_at)), align: 'right' },
  { title: 'KIND', text: ({ kind }) => kind },
  { title: 'STATE', text: ({ state, attention }) => (attention === null ? state : `${state}, ${attention.kind}`) },
  { title: 'ENDING', text: ({ ending }) => ending ?? '' },
  { title: 'PROFILE', text: ({ agent_profile }) => agent_profile, widthMax: 24 },
  { title: 'WORKER', text: ({ terminal_id }) => terminal_id ?? '' },
  { title: 'FOR', text: ({ caller_id }) => caller_id ?? '' },
  { title: 'TASK', text: ({ headline }) => cleanLine(headline), widthMax: 60 },
]

async function list({ options, positionals, context }: Call): Promise<number> {
  takePositionals(positionals, [])
  const state = textOption(options, 'state')
  const caller = textOption(options, 'caller')
  const worker = textOption(options, 'worker')
  const limit = numberOption(options, 'limit', { above: 0, isWhole: true })
  const client = await context.openClient()
  const query = {
    ...(state === undefined ? {} : { state }),
    ...(caller === undefined ? {} : { caller_id: caller }),
    ...(worker === undefined ? {} : { worker_id: worker }),
    ...(limit === undefined ? {} : { limit }),
  }
  const jobs = await client.listJobs(query, { signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, jobs)
  else await printLine(context, jobs.length === 0 ? 'no jobs' : formatTable(columns(context.clock.nowMs()), jobs))
  return 0
}

async function show({ options, positionals, context }: Call): Promise<number> {
  const id = takeJobId(positionals)
  const client = await context.openClient()
  const job = await client.getJob(id, 0, { signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, job)
  else await printLine(context, describe(job))
  return 0
}

async function wait({ options, positionals, context }: Call): Promise<number> {
  const id = takeJobId(positionals)
  const limitS = numberOption(options, 'timeout')
  const client = await context.openClient()
  const endMs = context.clock.monotonicMs() + (limitS ?? Number.POSITIVE_INFINITY) * 1_000
  let job = await client.getJob(id, 0, { signal: context.signal })
  while (job.is_open) {
    const leftS = Math.ceil(endMs - context.clock.monotonicMs()) / 1_000
    if (leftS <= 0) throw new AppError('TIMEOUT', `${id} is not over after ${limitS} s (${job.state})`)
    job = await client.getJob(id, Math.min(leftS, jobWaitMaxS), { signal: context.signal })
  }
  if (flagOption(options, 'json')) await printJson(context, job)
  else if (job.state === 'answered') await printAgentText(context, job.output ?? '')
  if (job.state === 'answered') return 0
  throw new AppError('WORKER_FAILED', `${id} was not answered (${job.state}): ${job.failure ?? 'no reason is known'}`)
}

async function cancel({ options, positionals, context }: Call): Promise<number> {
  const id = takeJobId(positionals)
  const client = await context.openClient()
  const job = await client.cancelJob(id, { signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, job)
  else await printLine(context, job.state === 'cancelled' ? `${id} is cancelled` : `${id} had ended: ${job.state}`)
  return 0
}

async function retry({ options, positionals, context }: Call): Promise<number> {
  const id = takeJobId(positionals)
  const timeout = numberOption(options, 'timeout', { above: 0 })
  const client = await context.openClient()
  const params = { client_env: readClientEnv(context.env), ...(timeout === undefined ? {} : { timeout }) }
  const job = await client.retryJob(id, params, { signal: context.signal })
  if (flagOption(options, 'json')) await printJson(context, job)
  else
    await printLine(context, `${job.id} tries it anew${job.terminal_id === null ? '' : `, worker ${job.terminal_id}`}`)
  return 0
}

function takeJobId(positionals: readonly string[]): string {
  const { JOB = '' } = takePositionals<'JOB'>(positionals, ['JOB'])
  const id = parseJobId(JOB)
  if (id !== undefined) return id
  throw new AppError('BAD_REQUEST', `${JSON.stringify(JOB)} is no id of a job; "cao jobs" lists them`)
}

function describe(job: JobBody): string {
  const { id, kind, state, ending, attention, checks } = job
  const lines = [
    `${id}  ${kind}, ${state}${ending === null ? '' : ` (${ending})`}`,
    `profile ${job.agent_profile}, worker ${job.terminal_id ?? 'none'}, for ${job.caller_id ?? 'you'}`,
    `created ${job.created_at}, deadline ${job.deadline_at}${job.ended_at === null ? '' : `, ended ${job.ended_at}`}`,
    ...(job.retry_of === null ? [] : [`tries ${job.retry_of} anew`]),
    ...(job.request_key === null ? [] : [`request key ${cleanLine(job.request_key)}`]),
    ...(attention === null ? [] : [`${attention.kind}: ${cleanText(attention.detail)}`]),
    ...checks.map(
      ({ command, passed, how }) => `check ${cleanLine(command)}: ${passed ? 'passed' : 'failed'} (${how})`,
    ),
    '',
    cleanText(job.message),
    ...(job.failure === null ? [] : ['', `Failed: ${cleanText(job.failure)}`]),
    ...(job.output === null ? [] : ['', 'Answer:', cleanText(job.output)]),
  ]
  return lines.join('\n')
}
