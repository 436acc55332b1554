/** One agent of one real CLI on the whole CAO, with the scripted model behind it: what the suites of states and of deliveries share. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect } from 'vitest'
import { createProviders } from '../../src/main/create-providers.ts'
import type { QuestionBody } from '../../src/protocol/question.ts'
import type { Key, Provider } from '../../src/providers/provider.ts'
import { TestWorld, until } from '../world.case.ts'
import { type CliRig, requireProgram } from './cli-rig.case.ts'
import { pathOf, Witness } from './witness.case.ts'

const root = join(import.meta.dirname, '..', '..')
export const stepLimitMs = 90_000
export const rest = ['idle', 'completed']
/** Of a person's hands: two Escapes at once are another key. */
const betweenKeysMs = 150
const interruptLooks = 100
const interruptLookMs = 100
const escapeAfterRestMs = 500
export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export type Run = { readonly rig: CliRig; readonly version: string; readonly size: string }

/** One agent of one CLI. */
export class Stage implements AsyncDisposable {
  readonly world: TestWorld
  readonly witness: Witness
  readonly #rig: CliRig
  id = ''

  private constructor(rig: CliRig, world: TestWorld, witness: Witness) {
    this.#rig = rig
    this.world = world
    this.witness = witness
  }

  static async open({ rig, version, size }: Run, person: 'known' | 'newcomer' = 'known'): Promise<Stage> {
    const folder = await requireProgram(rig, version)
    const witness = await Witness.open()
    const world = await TestWorld.open({
      ...rig.env(witness.port),
      // Programs that are a script for Node find ours first: they may need a newer one than the machine has.
      PATH: [folder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
      CAO_TERMINAL_SIZE: size,
    })
    if (person === 'known') rig.furnish(world.world.env['HOME'] ?? '', witness.port)
    const dir = world.world.layout.agentStoreDir
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const profile = `---\nname: tried\ndescription: for this test\nprovider: ${rig.provider}\nrole: developer\npermissionMode: ask\n---\nYou are tried.\n`
    writeFileSync(join(dir, 'tried.md'), profile, { mode: 0o600 })
    await world.startServer()
    const stage = new Stage(rig, world, witness)
    stage.id = await stage.launch({ isDeferred: person === 'newcomer' })
    return stage
  }

  async launch({ isDeferred }: { readonly isDeferred: boolean }): Promise<string> {
    const { id } = await this.world.client.createSession({
      agent_profile: 'tried',
      working_directory: this.world.world.projectDir,
      defer_init: isDeferred,
    })
    return id
  }

  get quirks(): Provider['quirks'] {
    const provider = createProviders(root).find(({ name }) => name === this.#rig.provider)
    if (provider === undefined) throw new Error(`no provider ${this.#rig.provider}`)
    return provider.quirks
  }

  async lastSeq(): Promise<number> {
    return (await this.world.client.listEvents({ limit: 1 })).last_seq
  }

  send(message: string): Promise<unknown> {
    return this.world.client.sendInput(this.id, { message, wait_s: 60 })
  }

  async waitFor(statuses: readonly string[], reason?: string): Promise<string> {
    return until(`${this.id} to be ${statuses.join(' or ')} ${reason ?? ''}`, stepLimitMs, async () => {
      const { status, status_reason } = await this.world.client.getTerminal(this.id)
      return statuses.includes(status) && (reason === undefined || reason === status_reason) ? status : undefined
    })
  }

  async waitForModel(what: string, isThere: () => boolean): Promise<void> {
    await until(`the model ${what}`, stepLimitMs, () => (isThere() ? true : undefined))
  }

  async findQuestion(): Promise<QuestionBody> {
    return until('a question', stepLimitMs, async () => (await this.world.client.listQuestions(this.id))[0])
  }

  /** As a person presses them: on the pane, past CAO. */
  async press(keys: readonly Key[]): Promise<void> {
    const { argv } = await this.world.client.attachArgv(this.id)
    const [program = '', ...args] = argv.slice(0, argv.indexOf('attach-session'))
    const pane = (await this.world.client.explain(this.id)).facts['pane']?.split(' ')[0] ?? ''
    for (const key of keys) {
      const literal = key.kind === 'text' ? ['-l', key.text] : [key.name]
      execFileSync(program, [...args, 'send-keys', '-t', pane, ...literal])
      await sleep(betweenKeysMs)
    }
  }

  /** Breaks the turn off as a person does, who presses again where a busy program has lost the keys, and leaves an empty composer. */
  async interrupt(): Promise<void> {
    await until(`${this.id} to be interrupted`, stepLimitMs, async () => {
      await this.press(this.quirks.interrupt)
      for (let looks = 0; looks < interruptLooks; looks++) {
        if (rest.includes((await this.world.client.getTerminal(this.id)).status)) return true
        await sleep(interruptLookMs)
      }
      return undefined
    })
    await sleep(escapeAfterRestMs)
    await this.press(this.quirks.clear)
    await sleep(escapeAfterRestMs)
  }

  /** The statuses of one turn, from what was sent to rest; none of them at rest while the model was still answering. */
  async expectTurn(message: string, act: () => Promise<void> = async () => undefined): Promise<readonly string[]> {
    const [seq, from] = [await this.lastSeq(), this.witness.facts.length]
    await this.send(message)
    await act()
    await this.waitFor(rest)
    const changes = await this.witness.listChanges(this.world.client, this.id, seq)
    const answered = this.witness.lastAnswered(from)
    const early = changes.filter(({ to, atMs }) => rest.includes(to) && atMs < (answered?.atMs ?? 0))
    expect(early, 'at rest while the model still answered').toEqual([])
    if (answered !== undefined) await this.witness.noteDelays(this.world.client, this.id, answered.atMs, 'end')
    return pathOf(changes)
  }

  /** For whoever looks why a state was wrong. */
  async describeTrail(): Promise<readonly string[]> {
    try {
      const { trail } = await this.world.client.explain(this.id)
      const seen = trail.map(
        ({ at, source, claim, effect, why, raw }) => `${at} ${source} ${claim}: ${effect}, ${why} [${raw}]`,
      )
      return [...seen, ...this.witness.describeFacts()].toSorted()
    } catch (error) {
      return [`no trail: ${error instanceof Error ? error.message : ''}`]
    }
  }

  async lastAnswer(): Promise<string> {
    return (await this.world.client.readOutput(this.id, 'last')).output
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
    await this.witness[Symbol.asyncDispose]()
  }
}
