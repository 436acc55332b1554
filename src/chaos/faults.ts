/**
 * Does one planned fault and waits until it is over: what was frozen runs again, what was killed has been started anew.
 * Each freeze is verified in /proc. Each answers with the sentence that the log gets; a fault whose target was not there
 * says so and counts as missed.
 *
 * The disk is full for the server without root: its limit for the size of files (RLIMIT_FSIZE) is set to one byte, so
 * that every write to a file fails (EFBIG; Node ignores SIGXFSZ) until the limit is lifted again.
 */
import { sleep } from '../async/wait.ts'
import { AppError } from '../domain/errors.ts'
import { findProcesses } from '../world/find-processes.ts'
import type { Fault, FaultKind } from './fault-plan.ts'
import { freeze, isRunning, listChildren, readCommand, runProgram, signalIfThere, waitForEnd } from './processes.ts'
import type { Stage } from './stage.ts'
import type { Member, Team } from './team.ts'

/** For a server that was asked to end. */
const stopLimitMs = 15_000
const killedLimitMs = 5_000
/** For our server to notice that its tmux or an agent is gone. */
const noticeLimitMs = 20_000
const noticePollMs = 100
const shellLivesMs = 3_000

export type FaultOutcome = { readonly isMissed: boolean; readonly told: string }

const done = (told: string): FaultOutcome => ({ isMissed: false, told })
const missed = (told: string): FaultOutcome => ({ isMissed: true, told })

export class Faults {
  readonly #stage: Stage
  readonly #team: Team
  readonly #write: (member: Member) => void

  /** `write` sends somebody a message, for faults that must meet one. */
  constructor(stage: Stage, team: Team, write: (member: Member) => void) {
    this.#stage = stage
    this.#team = team
    this.#write = write
  }

  /** Errors: AppError when what was broken does not come back. */
  async perform(fault: Fault): Promise<FaultOutcome> {
    switch (fault.kind) {
      case 'server-kill':
        return this.#endServer('SIGKILL', fault.lastsMs)
      case 'server-term':
        return this.#endServer('SIGTERM', fault.lastsMs)
      case 'server-freeze':
        return this.#freezeFor('the server', [this.#stage.serverPid], fault.lastsMs)
      case 'tmux-freeze':
        return this.#freezeFor('tmux', [this.#stage.tmuxPid], fault.lastsMs)
      case 'tmux-freeze-server-kill':
        return this.#freezeTmuxAndEndServer(fault.lastsMs)
      case 'tmux-kill':
        return this.#killTmux()
      case 'control-kill':
        return this.#killControlClient()
      case 'control-freeze':
        return this.#freezeFor('the control client', await this.#findControlClients(), fault.lastsMs)
      case 'agent-freeze':
        return this.#withMember(fault, (member) => this.#freezeAgent(member, fault.lastsMs))
      case 'sink-freeze':
        return this.#withMember(fault, async ({ id }) =>
          this.#freezeFor(`the sink of ${id}`, (await this.#findSink(id)).readers, fault.lastsMs),
        )
      case 'agent-kill':
        return this.#withMember(fault, (member) => this.#killAgent(member))
      case 'sink-kill':
        return this.#withMember(fault, (member) => this.#killSink(member, fault.variant))
      case 'pane-split':
      case 'window-rename':
      case 'copy-mode':
        return this.#withMember(fault, (member) => this.#actAtPane(member, fault.kind))
      case 'disk-full':
        return this.#fillDisk(fault.lastsMs)
    }
  }

  async #withMember(fault: Fault, work: (member: Member) => Promise<FaultOutcome>): Promise<FaultOutcome> {
    const member = this.#team.at(fault.slot)
    return member === undefined ? missed(`slot ${fault.slot} is empty`) : work(member)
  }

  async #endServer(signal: 'SIGKILL' | 'SIGTERM', downMs: number): Promise<FaultOutcome> {
    const { clock, serverPid: pid, parts } = this.#stage
    if (pid === undefined || !signalIfThere(pid, signal)) return missed('no server to end')
    await waitForEnd(clock, pid, signal === 'SIGKILL' ? killedLimitMs : stopLimitMs)
    await sleep(clock, downMs, parts.signal)
    const startMs = clock.monotonicMs()
    await this.#stage.ensureServer()
    return done(
      `server ${pid} ended by ${signal}, down ${downMs} ms, back in ${Math.round(clock.monotonicMs() - startMs)} ms`,
    )
  }

  async #freezeFor(what: string, pids: readonly (number | undefined)[], lastsMs: number): Promise<FaultOutcome> {
    const { clock, parts } = this.#stage
    const frozen: number[] = []
    try {
      for (const pid of pids) if (pid !== undefined && (await freeze(clock, pid))) frozen.push(pid)
      if (frozen.length === 0) return missed(`${what} is not there`)
      await sleep(clock, lastsMs, parts.signal)
    } finally {
      for (const pid of frozen) signalIfThere(pid, 'SIGCONT')
    }
    return done(`${what} (${frozen.join(', ')}) frozen for ${lastsMs} ms`)
  }

  /** Two messages are typed to it meanwhile: it must read them as two. */
  #freezeAgent(member: Member, lastsMs: number): Promise<FaultOutcome> {
    const frozen = this.#freezeFor(`agent ${member.id}`, [this.#stage.agentPid(member.id)], lastsMs)
    for (let times = 0; times < 2; times++) this.#write(member)
    return frozen
  }

  /** The server comes back to a tmux that does not answer yet. */
  async #freezeTmuxAndEndServer(lastsMs: number): Promise<FaultOutcome> {
    const { clock, serverPid, tmuxPid, parts } = this.#stage
    if (tmuxPid === undefined || serverPid === undefined) return missed('no server to end')
    if (!(await freeze(clock, tmuxPid))) return missed('tmux is not there')
    try {
      signalIfThere(serverPid, 'SIGKILL')
      await waitForEnd(clock, serverPid, killedLimitMs)
      const starting = this.#stage.ensureServer()
      await Promise.race([sleep(clock, lastsMs, parts.signal), starting])
      signalIfThere(tmuxPid, 'SIGCONT')
      await starting
    } finally {
      signalIfThere(tmuxPid, 'SIGCONT')
    }
    return done(`server ${serverPid} killed and started again while tmux was frozen for ${lastsMs} ms`)
  }

  /** All agents are lost with it; the team is made anew. */
  async #killTmux(): Promise<FaultOutcome> {
    const { clock, tmuxPid } = this.#stage
    if (tmuxPid === undefined || !(await isRunning(tmuxPid))) return missed('tmux is not there')
    const members = this.#team.present
    for (const member of members) this.#team.take(member, 'tmux-kill')
    signalIfThere(tmuxPid, 'SIGKILL')
    await waitForEnd(clock, tmuxPid, killedLimitMs)
    const took = await this.#waitUntilNotLive(members)
    await this.#team.fill()
    return done(`tmux ${tmuxPid} killed with ${members.length} agents, noticed in ${took} ms, the team is new`)
  }

  async #killAgent(member: Member): Promise<FaultOutcome> {
    const pid = this.#stage.agentPid(member.id)
    if (pid === undefined) return missed(`${member.id} has no pid file`)
    this.#team.take(member, 'agent-kill')
    signalIfThere(pid, 'SIGKILL')
    const took = await this.#waitUntilNotLive([member])
    await this.#team.fill()
    return done(`agent ${member.id} (${pid}) killed, noticed in ${took} ms, replaced`)
  }

  /** Errors: TIMEOUT when CAO goes on calling them live. */
  async #waitUntilNotLive(members: readonly Member[]): Promise<number> {
    const { clock, client, parts } = this.#stage
    const startMs = clock.monotonicMs()
    for (;;) {
      const terminals = await client.listTerminals(undefined, { signal: parts.signal })
      const live = members.filter(({ id }) => terminals.some((one) => one.id === id && one.life === 'live'))
      const tookMs = Math.round(clock.monotonicMs() - startMs)
      if (live.length === 0) return tookMs
      if (tookMs > noticeLimitMs) {
        const ids = live.map(({ id }) => id).join(', ')
        throw new AppError('TIMEOUT', `after ${noticeLimitMs} ms these dead agents are still called live: ${ids}`)
      }
      await sleep(clock, noticePollMs, parts.signal)
    }
  }

  /** The long-lived client of our server, by which it does everything at tmux. */
  async #findControlClients(): Promise<readonly number[]> {
    const { serverPid } = this.#stage
    const found: number[] = []
    for (const pid of serverPid === undefined ? [] : await listChildren(serverPid)) {
      const words = await readCommand(pid)
      if (words[0]?.endsWith('tmux') && words.includes('-C')) found.push(pid)
    }
    return found
  }

  async #killControlClient(): Promise<FaultOutcome> {
    const killed = (await this.#findControlClients()).filter((pid) => signalIfThere(pid, 'SIGKILL'))
    return killed.length === 0 ? missed('no control client') : done(`control client ${killed.join(', ')} killed`)
  }

  /** What writes the output of a terminal into its log: a shell, and the reader that it runs. */
  async #findSink(id: string): Promise<{ readonly shells: readonly number[]; readonly readers: readonly number[] }> {
    const { world } = this.#stage.parts
    const found = await findProcesses(world.folder)
    const shells = found.filter(({ command }) => command.includes(`${id}/output.log`) && command.includes('cat >&3'))
    const readers = (await Promise.all(shells.map(({ pid }) => listChildren(pid)))).flat()
    return { shells: shells.map(({ pid }) => pid), readers }
  }

  /** `variant`: the reader, the shell around it, or both. */
  async #killSink({ id }: Member, variant: number): Promise<FaultOutcome> {
    const { shells, readers } = await this.#findSink(id)
    const victims = [...(variant === 0 ? [] : shells), ...(variant === 1 ? [] : readers)]
    for (const pid of victims) signalIfThere(pid, 'SIGKILL')
    return victims.length === 0 ? missed(`${id} has no sink`) : done(`sink of ${id} killed (${victims.join(', ')})`)
  }

  async #actAtPane({ id }: Member, kind: FaultKind): Promise<FaultOutcome> {
    const pane = (await this.#stage.listPanes()).find(({ terminalId }) => terminalId === id)
    if (pane === undefined) return missed(`${id} has no pane`)
    const { paneId, windowId } = pane
    if (kind === 'window-rename') await this.#stage.tmux('rename-window', '-t', windowId, 'my own name: now.')
    else if (kind === 'copy-mode') await this.#stage.tmux('copy-mode', '-t', paneId)
    else {
      // A person's shell beside the agent, which ends by itself.
      const shell = `exec sleep ${shellLivesMs / 1_000}`
      await this.#stage.tmux('split-window', '-t', paneId, '/bin/sh', '-c', shell)
    }
    return done(`${kind} at ${id} (${paneId})`)
  }

  async #fillDisk(lastsMs: number): Promise<FaultOutcome> {
    const { clock, serverPid, parts } = this.#stage
    if (serverPid === undefined || !(await isRunning(serverPid))) return missed('no server')
    const limit = (size: string) =>
      runProgram('prlimit', ['--pid', String(serverPid), `--fsize=${size}:`], { env: parts.world.env, limitMs: 5_000 })
    await limit('1')
    try {
      await sleep(clock, lastsMs, parts.signal)
    } finally {
      if (await isRunning(serverPid)) await limit('unlimited')
    }
    if (!(await isRunning(serverPid)))
      throw new AppError('INTERNAL', `server ${serverPid} ended when the disk was full`)
    return done(`the disk was full for server ${serverPid} for ${lastsMs} ms`)
  }
}
