import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../async/clock-system.ts'
import { capturePane } from './capture.ts'
import { createPane } from './create-pane.ts'
import { checkForeignServer, diesOfManualSize } from './foreign.ts'
import { killTaggedPane, pasteFile, pressKeys } from './input.ts'
import {
  hasSession,
  killPane,
  listPanes,
  listSessions,
  pipePane,
  readPane,
  readPaneOption,
  setPaneOption,
} from './panes.ts'
import { type PrivateServer, startPrivateServer, tagOption, text, until } from './private-server.case.ts'
import { healLostExit } from './server.ts'
import { parseVersion } from './version.ts'

let tmux: PrivateServer
beforeAll(async () => {
  tmux = await startPrivateServer()
})
afterAll(async () => {
  await tmux[Symbol.asyncDispose]()
})

const capture = (paneId: string, more = {}) => capturePane(tmux.connection, { paneId, tagOption, ...more })
async function screen(paneId: string, more = {}): Promise<string[]> {
  const outcome = await capture(paneId, more)
  return outcome.kind === 'captured' ? text(outcome.lines).map((line) => line.trimEnd()) : [JSON.stringify(outcome)]
}
const shows = (paneId: string, wanted: string) =>
  until(`the screen to show ${wanted}`, async () => {
    const lines = await screen(paneId)
    return lines.some((line) => line.includes(wanted)) ? lines : undefined
  })
async function openDead(): Promise<string> {
  const { paneId } = await tmux.open('exit 3')
  await until('the pane to be dead', async () => {
    const pane = await readPane(tmux.connection, paneId, tagOption)
    return pane.kind === 'found' && pane.facts.isDead ? true : undefined
  })
  return paneId
}
/** A program that puts its input, byte for byte, into a file. */
async function openReader(name: string): Promise<{ paneId: string; path: string }> {
  const path = join(tmux.dir, name)
  const { paneId } = await tmux.open(`stty raw -echo; printf 'ready'; exec cat > '${path}'`)
  await shows(paneId, 'ready')
  return { paneId, path }
}
const own = { tag: { option: tagOption, value: 'x' } }
const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const serverRssKb = (): number => {
  const status = readFileSync(`/proc/${tmux.server.identity.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
}

describe('creating panes', () => {
  test('the first output byte is in the pipe, and the pane is tagged, sized and named', async () => {
    const sink = `exec cat >> '${tmux.dir}/first.log'`
    const { paneId } = await tmux.open("printf 'first'; sleep 60", {
      sink,
      windowName: 'a:b.c #S',
      size: { cols: 120, rows: 30 },
    })
    const log = await until('the log', () =>
      existsSync(`${tmux.dir}/first.log`) ? readFileSync(`${tmux.dir}/first.log`, 'utf8') || undefined : undefined,
    )
    expect(log).toBe('first')
    expect(await readPane(tmux.connection, paneId, tagOption)).toMatchObject({
      kind: 'found',
      facts: { paneId, tag: 'x', windowName: 'a:b.c #S', hasPipe: true, isDead: false, size: { cols: 120, rows: 30 } },
    })
  })

  test('20 at once are all complete and none is mixed up', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `id${index}`)
    const created = await Promise.all(
      ids.map((id) =>
        createPane(tmux.connection, {
          session: `many-${Number(id.slice(2)) % 10}`,
          isFirst: Number(id.slice(2)) < 10,
          windowName: id,
          argv: ['/bin/sh', '-c', `printf "${id}-$MARK"; sleep 60`],
          cwd: tmux.dir,
          env: { MARK: id },
          size: { cols: 80, rows: 24 },
          tag: { option: tagOption, value: id },
          isOwnServer: true,
          sink: `exec cat >> '${tmux.dir}/${id}.log'`,
        }),
      ),
    )
    const paneIds = created.map((each) => (each.kind === 'created' ? each.paneId : JSON.stringify(each)))
    const list = await listPanes(tmux.connection, tagOption)
    const panes = list.kind === 'listed' ? list.panes : []
    expect(paneIds.map((paneId) => panes.find((pane) => pane.paneId === paneId))).toMatchObject(
      ids.map((id) => ({ tag: id, windowName: id, hasPipe: true })),
    )
    for (const id of ids) {
      const log = join(tmux.dir, `${id}.log`)
      await until(`the log of ${id}`, () =>
        existsSync(log) && readFileSync(log, 'utf8') === `${id}-${id}` ? true : undefined,
      )
    }
  })

  test('a session that exists, or does not, is refused by name and nothing is created', async () => {
    await tmux.open('sleep 60', { session: 'proj2' })
    const before = await listPanes(tmux.connection, tagOption)
    const request = {
      session: 'proj2',
      isFirst: true,
      windowName: 'w',
      argv: ['/bin/sh', '-c', 'sleep 60'],
      cwd: tmux.dir,
      env: {},
      size: { cols: 80, rows: 24 },
      tag: { option: tagOption, value: 'y' },
      isOwnServer: true,
      sink: 'exec cat >/dev/null',
    }
    expect(await createPane(tmux.connection, request)).toEqual({ kind: 'session-exists' })
    expect(await createPane(tmux.connection, { ...request, session: 'proj', isFirst: false })).toEqual({
      kind: 'session-missing',
    })
    expect(await listPanes(tmux.connection, tagOption)).toEqual(before)
  })

  test('a prefix of a session name is not that session', async () => {
    await tmux.open('sleep 60', { session: 'prefix-long' })
    expect(await hasSession(tmux.connection, 'prefix')).toEqual({ kind: 'gone' })
    expect(await hasSession(tmux.connection, 'prefix-long')).toEqual({ kind: 'done' })
    const sessions = await listSessions(tmux.connection)
    expect(sessions.kind === 'listed' && sessions.sessions.map((each) => each.name)).toEqual(
      expect.arrayContaining(['keeper', 'prefix-long']),
    )
  })

  test('formats in names and directories are not executed, and arguments are literal', async () => {
    const cwd = join(tmux.dir, 'dir #(touch pwned) #S $HOME %Y')
    mkdirSync(cwd)
    const sink = `exec cat >> '${tmux.dir}/lit %Y #S.log'`
    const argv = [
      '/bin/sh',
      '-c',
      'pwd; printf "<%s>" "$@"; sleep 60',
      'x',
      '#{pid}',
      '$HOME;',
      ';',
      '-q',
      "it's",
      'a\nb',
    ]
    const { paneId } = await tmux.open('', { cwd, argv, sink, windowName: '#(touch pwned)' })
    await shows(paneId, 'b>')
    expect(await screen(paneId, {})).toEqual(
      expect.arrayContaining([expect.stringContaining('dir #(touch pwned) #S $HOME %Y')]),
    )
    expect((await screen(paneId)).join('\n')).toContain("<#{pid}><$HOME;><;><-q><it's><a\nb>")
    // The sink is a process of its own: it may open its file a moment after the screen is there.
    await until('the file of the sink', () => Promise.resolve(existsSync(`${tmux.dir}/lit %Y #S.log`) || undefined))
    expect([join(cwd, 'pwned'), join(tmux.dir, 'pwned')].filter(existsSync)).toEqual([])
  })

  test('a program that is missing shows only afterwards, as a dead pane', async () => {
    const { paneId } = await tmux.open('', { argv: ['/no/such/program', 'x'] })
    await until('the pane to be dead', async () => {
      const pane = await readPane(tmux.connection, paneId, tagOption)
      return pane.kind === 'found' && pane.facts.isDead ? true : undefined
    })
  })
})

describe('removing panes', () => {
  test.each(['killPane', 'killTaggedPane'])(
    'all windows of a session at once, by %s, and the server lives',
    async (how) => {
      for (const session of ['ends-1', 'ends-2', 'ends-3']) {
        const name = `${session}-${how}`
        const opened = []
        for (let count = 0; count < 4; count++) opened.push(await tmux.open('sleep 60', { session: name }))
        const kill = ({ paneId }: { paneId: string }) =>
          how === 'killPane' ? killPane(tmux.connection, paneId) : killTaggedPane(tmux.connection, { ...own, paneId })
        expect(await Promise.all(opened.map(kill))).toEqual(opened.map(() => ({ kind: 'done' })))
        expect(await hasSession(tmux.connection, name)).toEqual({ kind: 'gone' })
      }
      expect(await tmux.connection.run('list-buffers')).toMatchObject({ replies: [{ ok: true, lines: [] }] })
    },
  )
})

describe('looking at panes', () => {
  test('facts and screen come together, with UTF-8 in both', async () => {
    const { paneId } = await tmux.open(`printf '\\033]2;title é🙂|#S\\007héllo 漢字 🙂 back\\\\slash %%end'; sleep 60`)
    await shows(paneId, 'héllo')
    expect(await capture(paneId)).toMatchObject({
      kind: 'captured',
      facts: {
        title: 'title é🙂|#S',
        isAlternate: false,
        mode: undefined,
        cursor: { y: 0 },
        size: { cols: 80, rows: 24 },
      },
    })
    const lines = await screen(paneId)
    expect(lines[0]).toBe('héllo 漢字 🙂 back\\slash %end')
    expect(lines).toHaveLength(24)
  })

  test('wrapped lines are joined, history comes first, attributes only when asked', async () => {
    const { paneId } = await tmux.open(
      `for i in $(seq 1 40); do echo line $i; done; printf '%0100d' 7; printf '\\033[31mred\\033[0m'; sleep 60`,
    )
    await shows(paneId, 'red')
    expect((await screen(paneId)).filter((line) => line !== '').at(-1)).toBe(`${'7'.padStart(100, '0')}red`)
    expect((await screen(paneId, { historyLines: 5 })).length).toBeGreaterThan((await screen(paneId)).length)
    expect((await screen(paneId, { historyLines: 100 }))[0]).toBe('line 1')
    expect((await screen(paneId, { isStyled: true })).join('\n')).toContain('\x1b[31mred')
    expect((await screen(paneId)).join('\n')).not.toContain('\x1b')
  })

  test('a pane that is missing is gone, though tmux would print something for it', async () => {
    expect(await tmux.connection.run('display-message -p -t %999 x')).toMatchObject({
      kind: 'replied',
      replies: [{ ok: true }],
    })
    expect(await readPane(tmux.connection, '%999', tagOption)).toEqual({ kind: 'gone' })
    expect(await capture('%999')).toEqual({ kind: 'gone' })
    expect(await killPane(tmux.connection, '%999')).toEqual({ kind: 'gone' })
    expect(await setPaneOption(tmux.connection, '%999', '@x', 'y')).toMatchObject({
      kind: expect.not.stringMatching('done'),
    })
  })

  test('only ids and exact names are targets', async () => {
    await expect(readPane(tmux.connection, 'main', tagOption)).rejects.toThrow('not a pane id')
    await expect(killPane(tmux.connection, '')).rejects.toThrow('not a pane id')
    await expect(hasSession(tmux.connection, 'a*')).rejects.toThrow('not a plain session name')
  })

  test('1500 captures do not make the server grow, and leave no buffer', async () => {
    const { paneId } = await tmux.open(`for i in $(seq 1 60); do printf '%0190d\\n' $i; done; printf full; sleep 60`, {
      size: { cols: 200, rows: 50 },
    })
    await shows(paneId, 'full')
    const many = async (count: number) => {
      for (let at = 0; at < count; at += 50) await Promise.all(Array.from({ length: 50 }, () => capture(paneId)))
    }
    await many(300)
    const before = serverRssKb()
    await many(1_500)
    // capture-pane -p would add about 17 MB here on tmux 3.3a.
    expect(serverRssKb() - before).toBeLessThan(2_500)
    expect(await tmux.connection.run('list-buffers')).toMatchObject({ kind: 'replied', replies: [{ lines: [] }] })
  })

  test('an exit code that tmux lost is there after healing', async () => {
    const paneIds = await Promise.all(Array.from({ length: 12 }, () => openDead()))
    await healLostExit(systemClock, tmux.server.identity)
    for (const paneId of paneIds) {
      const code = await until('the code', async () => {
        const pane = await readPane(tmux.connection, paneId, tagOption)
        return pane.kind === 'found' ? pane.facts.deadStatus : undefined
      })
      expect(code).toBe(3)
    }
  })

  test('a pipe that ended is told after the next output and can be armed again', async () => {
    const { paneId } = await tmux.open('while :; do echo tick; sleep 0.05; done', { sink: 'exit 0' })
    await until('the pipe to be off', async () => {
      const pane = await readPane(tmux.connection, paneId, tagOption)
      return pane.kind === 'found' && !pane.facts.hasPipe ? true : undefined
    })
    expect(await pipePane(tmux.connection, paneId, `exec cat >> '${tmux.dir}/again.log'`)).toEqual({ kind: 'done' })
    await until('output', () => (existsSync(`${tmux.dir}/again.log`) ? true : undefined))
    await killPane(tmux.connection, paneId)
  })
})

describe('input', () => {
  test('a paste into a dead pane is refused and the server lives', async () => {
    const paneId = await openDead()
    const path = join(tmux.dir, 'dead-paste')
    writeFileSync(path, 'text')
    expect(await pasteFile(tmux.connection, { ...own, paneId, path, isBracketed: true })).toEqual({ kind: 'dead' })
    expect(await pressKeys(tmux.connection, { ...own, paneId }, [{ kind: 'key', name: 'Enter' }])).toEqual({
      kind: 'dead',
    })
    expect(await tmux.connection.run('list-buffers')).toMatchObject({ replies: [{ ok: true, lines: [] }] })
  })

  test('a pane with input off, a missing pane and a missing file each say so and leave no buffer', async () => {
    const { paneId } = await tmux.open('sleep 60')
    const path = join(tmux.dir, 'some-paste')
    writeFileSync(path, 'text')
    await tmux.connection.run(`select-pane -d -t ${paneId}`)
    expect(await pasteFile(tmux.connection, { ...own, paneId, path, isBracketed: true })).toEqual({ kind: 'input-off' })
    await tmux.connection.run(`select-pane -e -t ${paneId}`)
    expect(await pasteFile(tmux.connection, { ...own, paneId: '%999', path, isBracketed: true })).toEqual({
      kind: 'gone',
    })
    expect(await pressKeys(tmux.connection, { ...own, paneId: '%999' }, [{ kind: 'key', name: 'Enter' }])).toEqual({
      kind: 'gone',
    })
    expect(await pasteFile(tmux.connection, { ...own, paneId, path: '/no/such', isBracketed: true })).toMatchObject({
      kind: 'failed',
    })
    expect(await tmux.connection.run('list-buffers')).toMatchObject({ replies: [{ ok: true, lines: [] }] })
  })

  test.each([1_048_576, 40_000, 1])('a paste of %i bytes arrives exactly', async (length) => {
    const { paneId, path } = await openReader(`read-${length}`)
    const content = Buffer.concat([
      randomBytes(length).map((byte) => 0x20 + (byte % 0x5f)),
      Buffer.from('\nlast é🙂;\\'),
    ])
    const source = join(tmux.dir, `paste-${length}`)
    writeFileSync(source, content)
    expect(await pasteFile(tmux.connection, { ...own, paneId, path: source, isBracketed: true })).toEqual({
      kind: 'done',
    })
    await until('all bytes', () => (readFileSync(path).length >= content.length ? true : undefined))
    expect(sha(readFileSync(path))).toBe(sha(content))
  })

  test('bracket marks appear only for a program that asked for them', async () => {
    const path = join(tmux.dir, 'bracketed')
    const { paneId } = await tmux.open(`stty raw -echo; printf '\\033[?2004hready'; exec cat > '${path}'`)
    await shows(paneId, 'ready')
    writeFileSync(`${path}.in`, 'a\nb')
    await pasteFile(tmux.connection, { ...own, paneId, path: `${path}.in`, isBracketed: true })
    const wanted = '\x1b[200~a\nb\x1b[201~'
    await until('the paste', () => (readFileSync(path).length >= wanted.length ? true : undefined))
    expect(readFileSync(path, 'utf8')).toBe(wanted)
  })

  test('texts that a shell or tmux would take apart are typed exactly', async () => {
    const { paneId, path } = await openReader('typed')
    const texts = [
      'end;',
      ';',
      'back\\',
      '-l dash',
      '#(touch x)',
      '$HOME ~',
      `"'`,
      'Enter',
      '🙂 漢',
      'tab\there',
      '{}',
      '#{pid}',
    ]
    const strokes = [
      ...texts.map((each) => ({ kind: 'text', text: each }) as const),
      { kind: 'key', name: 'Enter' } as const,
    ]
    expect(await pressKeys(tmux.connection, { ...own, paneId }, strokes)).toEqual({ kind: 'done' })
    const wanted = `${texts.join('')}\r`
    await until('the text', () => (readFileSync(path).length >= Buffer.byteLength(wanted) ? true : undefined))
    expect(readFileSync(path, 'utf8')).toBe(wanted)
  })

  test('copy mode is left first, so no key is swallowed', async () => {
    const { paneId, path } = await openReader('copy-mode')
    await tmux.connection.run(`copy-mode -t ${paneId}`)
    expect(await readPane(tmux.connection, paneId, tagOption)).toMatchObject({ facts: { mode: 'copy-mode' } })
    await pressKeys(tmux.connection, { ...own, paneId }, [
      { kind: 'key', name: 'C-c' },
      { kind: 'key', name: 'Up' },
    ])
    await until('the keys', () => (readFileSync(path).length >= 4 ? true : undefined))
    expect(readFileSync(path, 'latin1')).toBe('\x03\x1b[A')
  })

  test('a pane with the tag of another is gone for input and for its end', async () => {
    const { paneId, path } = await openReader('other-tag')
    const other = { paneId, tag: { option: tagOption, value: 'other' } }
    writeFileSync(`${path}.in`, 'text')
    expect(await pressKeys(tmux.connection, other, [{ kind: 'text', text: 'x' }])).toEqual({ kind: 'gone' })
    expect(await pasteFile(tmux.connection, { ...other, path: `${path}.in`, isBracketed: true })).toEqual({
      kind: 'gone',
    })
    expect(await killTaggedPane(tmux.connection, other)).toEqual({ kind: 'gone' })
    expect(await readPane(tmux.connection, paneId, tagOption)).toMatchObject({
      kind: 'found',
      facts: { isDead: false },
    })
    expect(readFileSync(path, 'utf8')).toBe('')
    expect(await tmux.connection.run('list-buffers')).toMatchObject({ replies: [{ ok: true, lines: [] }] })
    expect(await killTaggedPane(tmux.connection, { ...own, paneId })).toEqual({ kind: 'done' })
    expect(await killTaggedPane(tmux.connection, { ...own, paneId })).toEqual({ kind: 'gone' })
  })

  test('a paste leaves its mark in the same step, a refused one leaves none', async () => {
    const { paneId } = await openReader('marked')
    const path = join(tmux.dir, 'marked.in')
    writeFileSync(path, 'text')
    const paste = (value: string, more = {}) =>
      pasteFile(tmux.connection, { ...own, paneId, path, isBracketed: true, mark: { option: '@mark', value }, ...more })
    expect(await readPaneOption(tmux.connection, paneId, '@mark')).toEqual({ kind: 'value', value: '' })
    expect(await paste('one 1;')).toEqual({ kind: 'done' })
    expect(await paste('two', { path: '/no/such' })).toMatchObject({ kind: 'failed' })
    await tmux.connection.run(`select-pane -d -t ${paneId}`)
    expect(await paste('three')).toEqual({ kind: 'input-off' })
    expect(await readPaneOption(tmux.connection, paneId, '@mark')).toEqual({ kind: 'value', value: 'one 1;' })
  })

  test('a key that tmux would type as text is refused before anything is sent', async () => {
    const { paneId, path } = await openReader('unknown-key')
    for (const name of ['NoSuchKey', 'S-Enter', 'Enter;', '']) {
      const strokes = [{ kind: 'text', text: 'x' } as const, { kind: 'key', name } as const]
      expect(await pressKeys(tmux.connection, { ...own, paneId }, strokes)).toEqual({ kind: 'unknown-key', name })
    }
    expect(readFileSync(path, 'utf8')).toBe('')
  })
})

describe('a server that is not ours', () => {
  test('global window-size manual is refused on the versions that it ends, and it is not a setting of ours', async () => {
    const version = (name: string) => parseVersion(`tmux ${name}`) ?? { major: 0, minor: 0, letter: '', text: '' }
    expect(['3.2a', '3.3a', '3.4', '3.5a', '3.6b', '3.7c'].filter((name) => diesOfManualSize(version(name)))).toEqual([
      '3.3a',
      '3.4',
      '3.5a',
      '3.6b',
    ])
    expect(await checkForeignServer(tmux.connection, version('3.3a'))).toEqual({ kind: 'usable' })
    await tmux.connection.run('set-option -gw window-size manual')
    try {
      expect(await checkForeignServer(tmux.connection, version('3.3a'))).toMatchObject({ kind: 'refused' })
      expect(await checkForeignServer(tmux.connection, version('3.7c'))).toEqual({ kind: 'usable' })
    } finally {
      await tmux.connection.run('set-option -gw window-size latest')
    }
  })
})
