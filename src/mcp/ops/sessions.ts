/** Teams: started, looked at, ended. */
import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { boundList, defineOpsTool, opsSender, profileName, sessionName } from './ops-tool.ts'

export const launchSession = defineOpsTool({
  name: 'launch_session',
  title: 'Launch an agent in a new session',
  description: [
    'Starts an agent of CAO in a session of its own and returns its `session_name` and `terminal_id`. The agent runs in a real',
    'terminal, goes on without you, and can start workers of its own (a supervisor profile does). With `initial_message` it gets its task',
    'as soon as it is ready, and this returns before that; without, this waits until the agent takes input. Then look at it with',
    '`get_terminal_status`, read its answer with `get_terminal_output`, and end it with `shutdown_session` when it is not needed any',
    'more: nothing else ends it.',
  ].join(' '),
  input: {
    agent_profile: profileName.describe('Name of the profile, as in `list_profiles`'),
    provider: z.string().max(64).optional().describe("Agent CLI, such as claude_code; the profile's when left out"),
    session_name: sessionName.optional().describe('Name for the session; "cao-" is put before it'),
    working_directory: z.string().max(4_096).optional().describe('Directory it works in; your own when left out'),
    allowed_tools: z.array(z.string()).max(256).optional().describe("Tools it may use; the profile's when left out"),
    model: z.string().max(128).optional().describe("Model of the agent; its profile's when left out"),
    initial_message: z.string().min(1).optional().describe('Its task, whole: it sees nothing of your conversation'),
  },
  async run({ working_directory = '.', ...asked }, { client, cwd, clientEnv, signal }) {
    const directory = isAbsolute(working_directory) ? working_directory : resolve(cwd, working_directory)
    const sender = asked.initial_message === undefined ? {} : { initial_message_sender_id: opsSender }
    const params = { ...asked, ...sender, working_directory: directory, client_env: { ...clientEnv } }
    const terminal = await client.createSession(params, { signal })
    return {
      success: true,
      session_name: terminal.session_name,
      terminal_id: terminal.id,
      provider: terminal.provider,
      status: terminal.status,
      permission_mode: terminal.permission_mode,
      limits_not_enforced: terminal.limits_not_enforced,
      message: `${terminal.agent_profile} (${terminal.provider}) runs as ${terminal.id} in ${terminal.session_name}`,
    }
  },
})

export const listSessions = defineOpsTool({
  name: 'list_sessions',
  title: 'List the sessions',
  description:
    'Lists the sessions there are: name, whether agents live in it, directory, profile of the first agent, how many agents.',
  input: {},
  async run(_none, { client, signal }) {
    return { success: true, ...boundList('sessions', await client.listSessions({ signal })) }
  },
})

export const getSessionInfo = defineOpsTool({
  name: 'get_session_info',
  title: 'Show the agents of a session',
  description: [
    'Shows one session and each of its agents: terminal id, profile, who launched it, status with its reason. Use it to follow a team;',
    'the status is proven, so that asking again at once tells nothing new.',
  ].join(' '),
  input: { session_name: sessionName.describe('Name as in `list_sessions`') },
  async run({ session_name }, { client, signal }) {
    const { session, terminals } = await client.getSession(session_name, { signal })
    return { success: true, session, ...boundList('terminals', terminals) }
  },
})

export const shutdownSession = defineOpsTool({
  name: 'shutdown_session',
  title: 'End all agents of a session',
  description: [
    'Ends every agent of a session and closes it, with whatever they are doing. What they have written to files stays. Use it for',
    'sessions that you launched, or that your person names.',
  ].join(' '),
  input: { session_name: sessionName.describe('Name as in `list_sessions`') },
  async run({ session_name }, { client, signal }) {
    const ended = await client.deleteSession(session_name, { signal })
    const message = ended.success ? `${session_name} has ended` : `${session_name} has not ended whole`
    return { ...ended, session_name, message }
  },
})
