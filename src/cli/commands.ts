/**
 * The commands of `cao`, in the order in which help shows them. A new command is a file beside this one and a
 * line here. Files are loaded lazily: `cao ls` never reads the code of the others.
 */
import type { Command } from './command.ts'

export type CommandEntry = {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  readonly load: () => Promise<Command>
}

export const commandTable: readonly CommandEntry[] = [
  {
    name: 'launch',
    summary: 'start an agent in a new session, with a first message if you like',
    load: async () => (await import('./launch.ts')).launchCommand,
  },
  {
    name: 'ls',
    summary: 'list the agents and what each is doing',
    load: async () => (await import('./ls.ts')).lsCommand,
  },
  {
    name: 'attach',
    summary: 'look at an agent in its own terminal (detach with Ctrl-b d)',
    load: async () => (await import('./attach.ts')).attachCommand,
  },
  {
    name: 'send',
    summary: "type a message into an agent's composer and wait for the proof that it arrived",
    load: async () => (await import('./send.ts')).sendCommand,
  },
  {
    name: 'command',
    summary: "give an agent's program a command of its own, such as /compact",
    load: async () => (await import('./command-call.ts')).commandCommand,
  },
  {
    name: 'messages',
    summary: 'say where messages stand; send again or drop those that ended badly',
    load: async () => (await import('./messages.ts')).messagesCommand,
  },
  {
    name: 'key',
    summary: 'press one key in an agent',
    load: async () => (await import('./key.ts')).keyCommand,
  },
  {
    name: 'questions',
    summary: 'list what agents wait to be told, and answer one',
    load: async () => (await import('./questions.ts')).questionsCommand,
  },
  {
    name: 'hold',
    summary: 'type nothing more into an agent until you say so',
    load: async () => (await import('./hold.ts')).holdCommand,
  },
  {
    name: 'release',
    summary: 'let the queue of an agent go on',
    load: async () => (await import('./hold.ts')).releaseCommand,
  },
  {
    name: 'output',
    summary: "print an agent's last answer, its screen or all it has printed",
    load: async () => (await import('./output.ts')).outputCommand,
  },
  {
    name: 'explain',
    summary: 'say why an agent has the status it has, and where its messages are',
    load: async () => (await import('./explain.ts')).explainCommand,
  },
  {
    name: 'rules',
    summary: 'list the rules that screens are read by, and try them on captures',
    load: async () => (await import('./rules.ts')).rulesCommand,
  },
  {
    name: 'events',
    summary: 'print what has happened, and with --follow what happens',
    load: async () => (await import('./events.ts')).eventsCommand,
  },
  {
    name: 'recover',
    summary: 'take lost or exited agents up again, with their conversation',
    load: async () => (await import('./recover.ts')).recoverCommand,
  },
  {
    name: 'jobs',
    summary: 'list the work that was given to agents, wait for it, call it off or try it anew',
    load: async () => (await import('./jobs.ts')).jobsCommand,
  },
  {
    name: 'worktree',
    summary: "list and remove agents' worktrees, and allow the set-up of a project",
    load: async () => (await import('./worktree.ts')).worktreeCommand,
  },
  {
    name: 'notify',
    summary: 'how you are told of questions and ends while you look elsewhere, and a try of it',
    load: async () => (await import('./notify.ts')).notifyCommand,
  },
  {
    name: 'shutdown',
    summary: 'end the agents of a session, or all of them',
    load: async () => (await import('./shutdown.ts')).shutdownCommand,
  },
  {
    name: 'profile',
    summary: 'list, show, search, check, create and remove the profiles that agents are launched by',
    load: async () => (await import('./profile.ts')).profileCommand,
  },
  {
    name: 'install',
    summary: 'put a profile into the store of this CAO, from a name, a file or an https address',
    load: async () => (await import('./install.ts')).installCommand,
  },
  {
    name: 'skills',
    summary: 'list, show, add and remove the instructions that agents can load',
    load: async () => (await import('./skills.ts')).skillsCommand,
  },
  {
    name: 'env',
    summary: 'keep variables, such as keys, for profiles and agents',
    load: async () => (await import('./env.ts')).envCommand,
  },
  {
    name: 'config',
    summary: 'show and set the options of this home',
    load: async () => (await import('./config.ts')).configCommand,
  },
  {
    name: 'server',
    summary: 'run, start, stop or look at the server (agents go on without it)',
    load: async () => (await import('./server.ts')).serverCommand,
  },
  {
    name: 'audit',
    summary: 'list who changed what, and who was refused at the doors',
    load: async () => (await import('./audit.ts')).auditCommand,
  },
  {
    name: 'token',
    summary: 'print the token of the TCP door, or the one that may only read',
    load: async () => (await import('./token.ts')).tokenCommand,
  },
  {
    name: 'logs',
    summary: "print the server's log or all that an agent has printed, and with --follow what comes",
    load: async () => (await import('./logs.ts')).logsCommand,
  },
  {
    name: 'purge',
    summary: 'forget what ended long ago',
    load: async () => (await import('./purge.ts')).purgeCommand,
  },
  {
    name: 'service',
    summary: 'run the server as a systemd unit of yours',
    load: async () => (await import('./service.ts')).serviceCommand,
  },
  {
    name: 'init',
    summary: 'make the home and its database, and say what is there',
    load: async () => (await import('./init.ts')).initCommand,
  },
  {
    name: 'doctor',
    summary: 'check what CAO needs, and say what to do about what is missing',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'demo',
    summary: 'watch a small team at work, in a home of its own',
    load: async () => (await import('./demo.ts')).demoCommand,
  },
]
