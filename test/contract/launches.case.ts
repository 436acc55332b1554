/** What a launch can be refused for, on each route that launches an agent. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TerminalBody } from '../../src/protocol/terminal.ts'
import type { Ask } from '../real-server.case.ts'
import { type Contract, refusal, text } from './contract.case.ts'

const profile = (name: string, more = ''): string => `---\nname: ${name}\ndescription: of a test\n${more}---\nDo it.\n`

type Launch = { readonly path: () => string; readonly body: (change: Readonly<Record<string, unknown>>) => unknown }

export function launchRefusals(contract: () => Contract): void {
  const ask = (method: string, path: string, how?: Ask) => contract().ask(method, path, how)
  const given = (change: Readonly<Record<string, unknown>>) => ({ ...contract().given({}), ...change })
  const job = (change: Readonly<Record<string, unknown>>) => {
    const { agent_profile, ...rest } = given(change)
    return { ...rest, agent: agent_profile, prompt: 'reply x' }
  }
  let team: TerminalBody | undefined
  const launches: Readonly<Record<string, Launch>> = {
    'POST /sessions': { path: () => '/sessions', body: given },
    'POST /sessions/:name/terminals': { path: () => `/sessions/${team?.session_name}/terminals`, body: given },
    'POST /jobs': { path: () => '/jobs', body: (change) => given({ kind: 'assign', message: 'reply x', ...change }) },
    'POST /terminals/run-step': { path: () => '/terminals/run-step', body: job },
  }

  describe.each(Object.entries(launches))('a launch by %s', (_route, { path, body }) => {
    test.each([
      ['an unknown profile', { agent_profile: 'nobody' }, 400, 'PROFILE_UNKNOWN'],
      ['a profile that can not be read', { agent_profile: 'broken' }, 400, 'PROFILE_INVALID'],
      ['an unknown provider', { provider: 'nothing' }, 400, 'PROVIDER_UNKNOWN'],
      [
        'a program that is not there',
        { provider: 'claude_code', client_env: { PATH: '/nowhere' } },
        400,
        'PROGRAM_MISSING',
      ],
      ['a directory that is not there', { working_directory: '/nowhere/at/all' }, 400, 'DIRECTORY_MISSING'],
      ['a choice of engines', { engine: 'v2' }, 400, 'BAD_REQUEST'],
      ['a model whose name is no name', { model: 'x'.repeat(200_000) }, 422, 'VALIDATION'],
    ] as const)('is refused in one sentence for %s, and leaves nothing behind', async (...[, change, status, code]) => {
      team ??= await contract().createAgent()
      await writeFile(contract().profilePath('broken'), '---\nname: [\n---\n')
      const before = (await ask('GET', '/terminals')).body
      const answer = await ask('POST', path(), { body: body(change) })
      expect([answer.status, answer.body]).toEqual([status, expect.objectContaining({ code, detail: text })])
      expect((answer.body as { detail: string }).detail.length).toBeLessThan(600)
      expect((await ask('GET', '/terminals')).body).toEqual(before)
    })
  })

  // Node itself refuses to start with an option that it does not know.
  const deadly = { NODE_OPTIONS: '--no-such-option' }
  test.each(['POST /sessions', 'POST /sessions/:name/terminals'])(
    'an agent that ends at its start is a 502 and leaves nothing behind: %s',
    async (route) => {
      team ??= await contract().createAgent()
      const before = (await ask('GET', '/terminals')).body
      const launch = launches[route]
      const answer = await ask('POST', launch?.path() ?? '', { body: launch?.body({ env_vars: deadly }) })
      expect(refusal(answer)).toEqual([502, 'LAUNCH_FAILED'])
      expect((await ask('GET', '/terminals')).body).toEqual(before)
    },
  )

  test('what was refused for the taking up of an agent does not lose it', async () => {
    const own = join(contract().real.home, 'brief')
    const path = contract().profilePath('brief')
    await mkdir(own)
    await writeFile(path, profile('brief'))
    const query = { agent_profile: 'brief', working_directory: own }
    const { id } = await contract().createAgent(query, { env_vars: { NODE_OPTIONS: '' } })
    const recover = async (body: unknown) => refusal(await ask('POST', `/terminals/${id}/recover`, { body }))
    const given = { env_vars: { NODE_OPTIONS: '' } }
    expect(await recover(given)).toEqual([409, 'CONFLICT'])
    await ask('POST', `/terminals/${id}/exit`)
    await contract().waitForLife(id, 'exited')
    expect(await recover({})).toEqual([409, 'ENV_MISSING'])
    await writeFile(path, '---\nname: [\n---\n')
    expect(await recover(given)).toEqual([400, 'PROFILE_INVALID'])
    await rm(path)
    expect(await recover(given)).toEqual([400, 'PROFILE_UNKNOWN'])
    await writeFile(path, profile('brief'))
    expect(await recover({ env_vars: deadly })).toEqual([502, 'LAUNCH_FAILED'])
    await rm(own, { recursive: true })
    expect(await recover(given)).toEqual([400, 'DIRECTORY_MISSING'])
    await mkdir(own)
    const back = await ask('POST', `/terminals/${id}/recover`, { body: given })
    expect([back.status, back.body]).toMatchObject([200, { id, life: 'live', status: 'idle' }])
    const all = await ask('POST', '/recover')
    expect([all.status, all.body]).toEqual([200, { recovered: [], errors: [] }])
    const strays = await ask('POST', '/adopt')
    expect([strays.status, strays.body]).toEqual([200, { adopted: [], errors: [] }])
  })
}
