/** Jobs over HTTP: listed, reported, tried anew, checked, and refused where limits are reached or the machine is full. */
import { rm, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { JobBody, JobLineBody } from '../../src/protocol/job.ts'
import type { TerminalBody } from '../../src/protocol/terminal.ts'
import type { Route } from '../../src/server/route.ts'
import { routes } from '../../src/server/routes.ts'
import { type Answer, type Ask, eventually, RealServer } from '../real-server.case.ts'
import { type Contract, hex8, refusal, text } from './contract.case.ts'

export function jobContract(contract: () => Contract): void {
  const ask = (method: string, path: string, how?: Ask) => contract().ask(method, path, how)
  const start = async (body: Readonly<Record<string, unknown>>): Promise<JobBody> => {
    const given = { ...contract().given({}), kind: 'handoff', message: 'reply x', ...body }
    const answer = await ask('POST', '/jobs', { body: given })
    expect([answer.status, answer.text]).toEqual([201, text])
    return answer.body as JobBody
  }
  const waitFor = async (id: string): Promise<JobBody> => (await ask('GET', `/jobs/${id}?wait_s=30`)).body as JobBody
  const retry = (id: string, body: unknown = {}) => ask('POST', `/jobs/${id}/retry`, { body })
  const isOver = (id: string) =>
    eventually(`the end of ${id}`, async () => ((await waitFor(id)).is_open ? undefined : true))

  describe('jobs on the wire', () => {
    test('are listed without their long texts, by state, asker and worker', async () => {
      const { id, terminal_id } = await start({ message: 'hang\nsecond line' })
      const line = expect.objectContaining({
        id,
        headline: 'hang',
        state: text,
        is_open: true,
        attention: null,
      }) as unknown
      const listed = async (query: string) => (await ask('GET', `/jobs?${query}`)).body as readonly JobLineBody[]
      expect((await listed('limit=1'))[0]).toEqual(line)
      expect(await listed(`worker_id=${terminal_id}&state=open`)).toEqual([line])
      expect(await listed(`worker_id=${terminal_id}&state=ended`)).toEqual([])
      expect(await listed(`caller_id=${terminal_id}`)).toEqual([])
      expect((await ask('GET', '/jobs?state=lazy')).status).toBe(422)
      await ask('POST', `/jobs/${id}/cancel`)
      expect((await listed(`worker_id=${terminal_id}&state=cancelled`)).map(({ ending }) => ending)).toEqual([
        'cancelled',
      ])
    })

    test('end by a report, once, in each of its words', async () => {
      const { id } = await start({ message: 'hang' })
      const report = (status: string, result: string) => ask('POST', `/jobs/${id}/report`, { body: { status, result } })
      const ended = { state: 'answered', ending: 'no_change_needed', output: 'right as it is', source: 'report' }
      expect((await report('no_change_needed', 'right as it is')).body).toMatchObject(ended)
      expect((await report('no_change_needed', 'right as it is')).status).toBe(200)
      expect(refusal(await report('failed', 'no'))).toEqual([409, 'CONFLICT'])
      const other = await start({ message: 'hang' })
      const body = { status: 'failed', result: 'no way' }
      expect((await ask('POST', `/jobs/${other.id}/report`, { body })).body).toMatchObject({
        state: 'failed',
        ending: 'reported_failure',
        failure: 'no way',
      })
      await ask('DELETE', `/terminals/${other.terminal_id}`)
    })

    test('that were not answered are tried anew, once each, by another worker', async () => {
      const { id, terminal_id } = await start({ message: 'crash 3' })
      expect(refusal(await retry(id))).toEqual([409, 'CONFLICT'])
      expect(await waitFor(id)).toMatchObject({ state: 'failed', ending: 'worker_exited' })
      const again = (await retry(id, { timeout: 60 })).body as JobBody
      expect(again).toMatchObject({ retry_of: id, message: 'crash 3', terminal_id: hex8 })
      expect([again.terminal_id === terminal_id, ((await retry(id)).body as JobBody).id]).toEqual([false, again.id])
      const answered = await start({ message: 'reply fine' })
      await isOver(answered.id)
      expect(refusal(await retry(answered.id))).toEqual([409, 'CONFLICT'])
      for (const one of [terminal_id, again.terminal_id]) await ask('DELETE', `/terminals/${one}`)
    })

    test('under the key of another task are a conflict', async () => {
      const { id } = await start({ message: 'reply x', request_key: 'contract-key' })
      const body = { ...contract().given({}), kind: 'handoff', message: 'reply y', request_key: 'contract-key' }
      const answer = await ask('POST', '/jobs', { body })
      expect([answer.status, answer.body]).toMatchObject([409, { code: 'CONFLICT', data: { job_id: id } }])
    })

    test('count as done when their checks have passed, else the worker is told once, and then they have failed', async () => {
      const checks = ['test -f here.txt', ['node', '--version']]
      const passed = await start({ message: 'reply done', checks: ['pwd', ['true']] })
      expect(await waitFor(passed.id)).toMatchObject({
        state: 'answered',
        output: 'done',
        checks: [
          { command: 'pwd', passed: true, how: 'exit code 0', output: `${contract().dir}\n` },
          { command: '["true"]', passed: true, how: 'exit code 0', output: '' },
        ],
      })
      const failed = await start({ message: 'reply done', checks: ['echo what is wrong; exit 4', ...checks] })
      expect(await waitFor(failed.id)).toMatchObject({
        state: 'failed',
        ending: 'checks_failed',
        failure: expect.stringContaining('(exit code 4); its output ended with:\n> what is wrong') as unknown,
        checks: [{ passed: false, how: 'exit code 4', output: 'what is wrong\n' }],
      })
      const told = (await ask('GET', `/terminals/${failed.terminal_id}/inbox/messages`)).body as { message: string }[]
      expect(told.filter(({ message }) => message.includes('does not count as done yet'))).toHaveLength(1)
      await ask('DELETE', `/terminals/${failed.terminal_id}`)
    })

    test('are not tried anew where their worker can not be started, or takes nothing', async () => {
      const begun = async (change: Readonly<Record<string, unknown>>) => {
        const body = { ...contract().given({}), kind: 'assign', message: 'reply x', ...change }
        await ask('POST', '/jobs', { body })
        const [newest] = (await ask('GET', '/jobs?limit=1')).body as readonly JobLineBody[]
        return newest?.id ?? ''
      }
      await writeFile(contract().profilePath('fleeting'), '---\nname: fleeting\ndescription: x\n---\nDo it.\n')
      const fleeting = await begun({ agent_profile: 'fleeting', message: 'crash' })
      await isOver(fleeting)
      const client_env = { PATH: '/nowhere' }
      const program = await begun({ provider: 'claude_code', client_env })
      const answers = [
        await retry(await begun({ provider: 'nothing' })),
        await retry(await begun({ working_directory: '/nowhere/at/all' })),
        await retry(program, { client_env }),
      ]
      await writeFile(contract().profilePath('fleeting'), '---\nname: [\n---\n')
      answers.push(await retry(fleeting))
      await rm(contract().profilePath('fleeting'))
      answers.push(await retry(fleeting))
      expect(answers.map(refusal)).toEqual([
        [400, 'PROVIDER_UNKNOWN'],
        [400, 'DIRECTORY_MISSING'],
        [400, 'PROGRAM_MISSING'],
        [400, 'PROFILE_INVALID'],
        [400, 'PROFILE_UNKNOWN'],
      ])
      const { id } = await contract().createAgent()
      const given = await start({ kind: 'assign', message: 'hang', reuse_terminal_id: id })
      await ask('POST', `/jobs/${given.id}/report`, { body: { status: 'failed', result: 'x' } })
      await ask('POST', `/terminals/${id}/exit`)
      await contract().waitForLife(id, 'exited')
      expect(refusal(await retry(given.id))).toEqual([409, 'BLOCKED'])
      await ask('DELETE', `/terminals/${id}`)
    })

    test('and agents are not started beyond the limits, nor while the machine is full', async () => {
      await using real = await RealServer.start({ CAO_LIMIT_DEPTH: '1', CAO_LIMIT_WORKERS: '1' })
      const note = (at: string, answer: Answer) => {
        contract().note(routes.find((route) => route.at === at) as Route, answer)
        return refusal(answer)
      }
      const given = { agent_profile: 'developer', provider: 'scripted', working_directory: real.home }
      const made = async (path: string, body: unknown) => (await real.ask('POST', path, { body })).body
      const boss = (await made('/sessions', given)) as TerminalBody
      const path = `/sessions/${boss.session_name}/terminals`
      const mine = { ...given, caller_id: boss.id, kind: 'assign' }
      const job = (await made('/jobs', { ...mine, message: 'crash' })) as JobBody
      await eventually('its end', async () => ((await real.client.getJob(job.id, 20)).is_open ? undefined : true))
      const worker = (await made(path, { ...given, caller_id: boss.id })) as TerminalBody
      const launches = async (caller_id: string) => [
        note('POST /sessions', await real.ask('POST', '/sessions', { body: { ...given, caller_id } })),
        note('POST /sessions/:name/terminals', await real.ask('POST', path, { body: { ...given, caller_id } })),
        note('POST /jobs', await real.ask('POST', '/jobs', { body: { ...mine, caller_id, message: 'x' } })),
        note(
          'POST /terminals/run-step',
          await real.ask('POST', '/terminals/run-step', { body: { agent: 'developer', prompt: 'x', caller_id } }),
        ),
        note('POST /jobs/:id/retry', await real.ask('POST', `/jobs/${job.id}/retry`, { body: {} })),
      ]
      expect(await launches(worker.id)).toEqual(Array(5).fill([409, 'LIMIT_REACHED']))
      const listed = (await real.client.listTerminals()).map(({ id }) => id).toSorted()
      const options = {
        ...real.config.options,
        'limits.memory_mib': 10_000_000,
        'limits.depth': 5,
        'limits.workers': 9,
      }
      await real.close()
      await real.open({ ...real.config, options })
      expect(await launches(worker.id)).toEqual(Array(5).fill([503, 'DEFERRED']))
      const told = await real.ask('POST', '/sessions', { body: given })
      expect([told.headers['retry-after'], told.body]).toMatchObject(['30', { data: { retry_after_s: 30 } }])
      expect((await real.client.listTerminals()).map(({ id }) => id).toSorted()).toEqual(listed)
    })
  })
}
