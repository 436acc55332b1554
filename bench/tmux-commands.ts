/**
 * What one persistent connection to tmux is worth: the same question asked over it and by a tmux process of its own,
 * in turn, on a private server with one busy-looking pane.
 */
import { systemClock } from '../src/async/clock-system.ts'
import { existingServerArgs } from '../src/tmux/address.ts'
import { capturePane } from '../src/tmux/capture.ts'
import { paneFormat } from '../src/tmux/pane-fields.ts'
import { type PrivateServer, startPrivateServer, tagOption } from '../src/tmux/private-server.case.ts'
import { runProgram } from '../src/tmux/run-program.ts'
import { isQuick, measureInTurn, median, report, round, type Sample } from './lib/measure.ts'

const format = '#{pid} #{version}'
const script =
  'i=0; while [ $i -lt 60 ]; do echo "line $i of what an agent may have printed, with some colour \\033[31mred\\033[0m"; i=$((i+1)); done; sleep 600'

async function runTmux({ address }: PrivateServer, words: readonly string[]): Promise<void> {
  const args = [...existingServerArgs(address), ...words]
  const result = await runProgram({ clock: systemClock, file: address.tmux, args, env: address.env, timeoutMs: 10_000 })
  if (result.kind !== 'exited' || result.code !== 0 || result.stdout === '') {
    throw new Error(`tmux ${words.join(' ')}: ${JSON.stringify(result)}`)
  }
}

function contenders(server: PrivateServer, paneId: string) {
  const { connection } = server
  return [
    {
      name: 'message, connection',
      async run() {
        const outcome = await connection.run(`display-message -p '${format}'`)
        if (outcome.kind !== 'replied' || outcome.replies[0]?.ok !== true) throw new Error(JSON.stringify(outcome))
      },
    },
    { name: 'message, process', run: () => runTmux(server, ['display-message', '-p', format]) },
    {
      name: 'capture, connection',
      async run() {
        const outcome = await capturePane(connection, { paneId, tagOption })
        if (outcome.kind !== 'captured') throw new Error(JSON.stringify(outcome))
      },
    },
    {
      // The same facts and the same screen, and only one process for both.
      name: 'capture, process',
      run: () =>
        runTmux(server, [
          'display-message',
          '-p',
          '-t',
          paneId,
          paneFormat(tagOption),
          ';',
          'capture-pane',
          '-p',
          '-J',
          '-t',
          paneId,
        ]),
    },
  ]
}

function factor(samples: readonly Sample[], what: string): number {
  const find = (how: string) => samples.find(({ name }) => name === `${what}, ${how}`) ?? { sortedMs: [] }
  return round(median(find('process')) / median(find('connection')), 1)
}

await using server = await startPrivateServer()
const { paneId } = await server.open(script)
const samples = await measureInTurn(contenders(server, paneId), {
  warmUpRounds: 20,
  roundsMax: isQuick() ? 1_000 : 5_000,
  totalMs: isQuick() ? 25_000 : 120_000,
})
report('tmux-commands', samples, {
  tmux: server.server.facts.version,
  message_times_faster: factor(samples, 'message'),
  capture_times_faster: factor(samples, 'capture'),
})
