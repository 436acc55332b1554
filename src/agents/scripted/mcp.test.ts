/** The agent's MCP client, in the running agent and against a real server. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TmuxPane } from './tmux-pane.case.ts'

async function startWithServers(servers: Record<string, unknown>): Promise<TmuxPane> {
  const pane = await TmuxPane.start()
  const file = join(pane.folder, 'mcp.json')
  writeFileSync(file, JSON.stringify({ mcpServers: servers }))
  await pane.launch(['--mcp-config', file])
  await pane.waitForScreen('Enter to send')
  return pane
}

const greeter = {
  command: process.execPath,
  args: [join(import.meta.dirname, 'mcp-server.case.ts')],
  env: { GREETER: 'the test' },
}

test('calls a tool with arguments that earlier results fill, at once after the start', async () => {
  await using pane = await startWithServers({ greeter })
  await pane.say('call greet {"name":"one \\"quoted\\""}\ncall greet {"name":"[{result}]"}\nreply {results}')
  expect(await pane.waitForRecords('assistant', 1)).toEqual([
    'hello one "quoted" from the test\nhello [hello one "quoted" from the test] from the test',
  ])
  await pane.waitForScreen('MCP: greeter (2 tools)')
})

test('a server that does not start, an unknown tool and wrong arguments are answers, not the end', async () => {
  await using pane = await startWithServers({ greeter, broken: { command: '/bin/false' } })
  await pane.say('call other\ncall greet {"name":1}\ncall greet {\nreply {results}')
  const [answer = ''] = await pane.waitForRecords('assistant', 1)
  expect(answer).toContain('there is no tool other (broken did not start')
  expect(answer).toMatch(/name/)
  expect(answer).toMatch(/JSON/)
})

test('Escape interrupts a call', async () => {
  await using pane = await startWithServers({ greeter })
  await pane.say('call wait {"ms":60000}')
  await pane.waitForScreen('⚙ wait')
  await pane.press('Escape')
  await pane.waitForRecords('interrupted', 1)
  await pane.say('call greet {"name":"again"}')
  expect(await pane.waitForRecords('assistant', 1)).toEqual(['DONE hello again from the test'])
})
