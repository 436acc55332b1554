/**
 * Each CLI on the whole CAO: launched, given a turn, asked for permission, ended. The person's HOME is as it was but for what the
 * CLI itself keeps there, and the directory but for what the agent was told to do.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { openScriptedModel } from '../../src/agents/scripted-model/server.ts'
import { systemClock } from '../../src/async/clock-system.ts'
import { TestWorld, until } from '../world.case.ts'
import { type CliRig, installLimitMs, readRunPlan, requireProgram } from './cli-rig.case.ts'
import { compareHome, findOurTraces, readHome } from './home-diff.case.ts'

vi.setConfig({ testTimeout: installLimitMs })
const stepLimitMs = 90_000

/** Things of the person's that no CLI has anything to do with. */
function furnishOthers(home: string): void {
  writeFileSync(join(home, '.bashrc'), 'alias ll="ls -l"\n')
  writeFileSync(join(home, '.tmux.conf'), 'set -g mouse on\n')
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = A Person\n')
}

async function runOnce({ client, world }: TestWorld, rig: CliRig): Promise<void> {
  const { id } = await client.createSession({ agent_profile: 'tried', working_directory: world.projectDir })
  await client.sendInput(id, { message: 'reply first', wait_s: 60 })
  const awaitAnswer = (text: string) =>
    until(`"${text}"`, stepLimitMs, async () => {
      // Until it has one, or while its program is busy, there is none to read.
      const output = await client.readOutput(id, 'last').then(
        (read) => read.output,
        () => '',
      )
      return output.trim() === text ? true : undefined
    })
  await awaitAnswer('first')
  const command = 'touch made-by-agent'
  await client.sendInput(id, { message: `${rig.askingFor?.(command) ?? `tool ${command}`}\nreply second`, wait_s: 60 })
  const question = await until('a question', stepLimitMs, async () => (await client.listQuestions(id))[0])
  await client.answerQuestion(id, { answer: '1', question_id: question.id })
  await awaitAnswer('second')
  await client.deleteTerminal(id)
}

describe.each(readRunPlan(process.env).runs)('$rig.provider $version', ({ rig, version }) => {
  test("leaves the person's HOME as it was, but for what it keeps itself", async () => {
    const folder = await requireProgram(rig, version)
    await using model = await openScriptedModel({ clock: systemClock, port: 0 })
    await using world = await TestWorld.open({
      ...rig.env(model.port),
      PATH: [folder, process.env['PATH'] ?? ''].join(delimiter),
    })
    const home = world.world.env['HOME'] ?? ''
    rig.furnish(home, model.port)
    furnishOthers(home)
    const { agentStoreDir } = world.world.layout
    mkdirSync(agentStoreDir, { recursive: true, mode: 0o700 })
    const profile = `---\nname: tried\ndescription: for this test\nprovider: ${rig.provider}\nrole: developer\npermissionMode: ask\n---\nYou are tried.\n`
    writeFileSync(join(agentStoreDir, 'tried.md'), profile, { mode: 0o600 })
    const before = readHome(home)
    await world.startServer()
    await runOnce(world, rig)
    const after = readHome(home)
    expect(compareHome(before, after, [rig.provider])).toEqual({ changed: [], foreign: [] })
    expect(findOurTraces(after, rig.provider)).toEqual([])
    expect(readdirSync(world.world.projectDir)).toEqual(['made-by-agent'])
  })
})

test('a changed file, a new one outside of the named places, and a CLI without any would be seen', () => {
  const before = new Map([
    ['.bashrc', 'a'],
    ['.claude.json', '{"mine":1}'],
  ])
  const after = new Map([
    ['.bashrc', 'b'],
    ['.claude.json', '{"mine":2}'],
    ['.claude/history', ''],
    ['.profile', ''],
  ])
  expect(compareHome(before, after, ['claude_code'])).toEqual({
    changed: ['.bashrc', '.claude.json'],
    foreign: ['.profile'],
  })
  expect(compareHome(before, new Map([...before, ['.claude/history', '']]), ['claude_code']).foreign).toEqual([])
  expect(() => compareHome(before, after, ['unheard_of'])).toThrow('say in')
})
