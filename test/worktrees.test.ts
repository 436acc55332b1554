/**
 * Worktrees on the whole real CAO with the real git: made, worked in, removed when nothing is lost by it, kept and told of
 * when something would be. Agents are scripted; what they would do in their directory the tests do in their place.
 */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { AppError } from '../src/domain/errors.ts'
import type { TerminalBody } from '../src/protocol/terminal.ts'
import { eventually, RealServer } from './real-server.case.ts'

// A machine that is busy with other suites is slow, not wrong.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
let real: RealServer
beforeAll(async () => {
  real = await RealServer.start()
})
afterAll(() => real[Symbol.asyncDispose]())
/** What piles up makes each list slower: git is asked about every worktree that is there. */
afterEach(async () => {
  const sessions = await real.client.listSessions()
  await Promise.all(sessions.map(({ name }) => real.client.deleteSession(name)))
  const left = await real.client.listWorktrees({ look: false })
  await Promise.all(left.map(({ terminal_id }) => real.client.removeWorktree(terminal_id, { force: true })))
})

const gitEnv = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
}
const git = (dir: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], { cwd: dir, env: gitEnv, encoding: 'utf8' }).trim()

let made = 0
/** A repository with one commit: `a.txt` and `sub/b.txt`. */
function makeRepository(name = `repo-${++made}`): string {
  const dir = join(realpathSync(real.home), name)
  mkdirSync(join(dir, 'sub'), { recursive: true })
  writeFileSync(join(dir, 'a.txt'), 'a\n')
  writeFileSync(join(dir, 'sub', 'b.txt'), 'b\n')
  git(dir, 'init', '--quiet')
  commit(dir, 'first')
  return dir
}

function commit(dir: string, message: string): void {
  git(dir, 'add', '--all')
  git(dir, 'commit', '--quiet', '--allow-empty', '-m', message)
}

const launch = (directory: string, more: object = {}): Promise<TerminalBody> =>
  real.client.createSession({
    agent_profile: 'developer',
    provider: 'scripted',
    working_directory: directory,
    use_worktree: true,
    ...more,
  })

function worktreeOf(terminal: TerminalBody): NonNullable<TerminalBody['worktree']> {
  if (terminal.worktree === null) throw new Error(`${terminal.id} has no worktree`)
  return terminal.worktree
}

const branches = (dir: string): readonly string[] =>
  git(dir, 'branch', '--format=%(refname:short)')
    .split('\n')
    .filter((line) => line !== '')
const worktreesOf = (dir: string): number => git(dir, 'worktree', 'list').split('\n').length
const listed = async (id: string) => (await real.client.listWorktrees()).find(({ terminal_id }) => terminal_id === id)
const eventsOf = async (type: string, id: string) => {
  const { events } = await real.client.listEvents({ limit: 500, after: Math.max(0, (await lastSeq()) - 500) })
  return events.filter((event) => event.type === type && 'terminal_id' in event && event.terminal_id === id)
}
const lastSeq = async (): Promise<number> => (await real.client.listEvents({ limit: 1 })).last_seq
const refusal = async (call: Promise<unknown>): Promise<readonly [string, string]> => {
  const error = await call.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  )
  if (error instanceof AppError) return [error.code, error.message]
  throw error
}

/** Nothing of a launch that came to nothing. */
async function expectNothingLeft(dir: string, before: readonly string[]): Promise<void> {
  expect(branches(dir)).toEqual(before)
  expect(worktreesOf(dir)).toBe(1)
  expect(
    (await real.client.listWorktrees({ look: false })).filter(({ source_directory }) =>
      source_directory.startsWith(dir),
    ),
  ).toEqual([])
}

describe('making one', () => {
  test('an agent gets a private checkout of the last commit, on a branch of its own, in the same folder below it', async () => {
    const dir = makeRepository()
    writeFileSync(join(dir, 'a.txt'), 'changed\n')
    writeFileSync(join(dir, 'new.txt'), 'new\n')
    const terminal = await launch(join(dir, 'sub'))
    const { layout } = real.config
    const path = join(layout.worktreesDir, terminal.id, dir.split('/').at(-1) ?? '')
    expect(terminal).toMatchObject({
      working_directory: join(path, 'sub'),
      worktree: {
        path,
        branch: `cao-developer-${terminal.id}`,
        base_branch: 'main',
        base_commit: git(dir, 'rev-parse', 'HEAD'),
        state: 'ready',
        detail: null,
        notes: [`2 uncommitted changes of ${dir} are not in it`],
      },
    })
    expect([readFileSync(join(path, 'a.txt'), 'utf8'), existsSync(join(path, 'new.txt'))]).toEqual(['a\n', false])
    expect(git(path, 'branch', '--show-current')).toBe(`cao-developer-${terminal.id}`)
    expect(statSync(join(layout.worktreesDir, terminal.id)).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('changed\n')
    expect((await real.client.getTerminal(terminal.id)).worktree).toEqual(terminal.worktree)
    const sessions = await real.client.listSessions()
    expect(sessions.find(({ name }) => name === terminal.session_name)?.working_directory).toBe(join(dir, 'sub'))
    expect(await eventsOf('worktree.created', terminal.id)).toMatchObject([
      { path, branch: `cao-developer-${terminal.id}` },
    ])
  })

  test('six at once in one repository do not meet', async () => {
    const dir = makeRepository()
    const terminals = await Promise.all(Array.from({ length: 6 }, () => launch(dir)))
    expect(new Set(terminals.map((terminal) => worktreeOf(terminal).branch)).size).toBe(6)
    expect(worktreesOf(dir)).toBe(7)
    await Promise.all(terminals.map(({ id }) => real.client.deleteTerminal(id)))
    expect([worktreesOf(dir), branches(dir)]).toEqual([1, ['main']])
  })

  test('one that is made from a detached HEAD, and one that is made from a worktree, begin where that stands', async () => {
    const dir = makeRepository()
    git(dir, 'checkout', '--quiet', '--detach')
    const first = await launch(dir)
    expect(worktreeOf(first).base_branch).toBeNull()
    const { path } = worktreeOf(first)
    commit(path, 'second')
    const second = worktreeOf(await launch(path))
    expect([second.base_commit, second.base_branch]).toEqual([git(path, 'rev-parse', 'HEAD'), worktreeOf(first).branch])
  })

  test("hooks of the repository are not run by CAO's checkout", async () => {
    const dir = makeRepository()
    const hook = join(dir, '.git', 'hooks', 'post-checkout')
    mkdirSync(join(dir, '.git', 'hooks'), { recursive: true })
    writeFileSync(hook, `#!/bin/sh\ntouch ${join(dir, 'ran')}\n`, { mode: 0o755 })
    await launch(dir)
    expect(existsSync(join(dir, 'ran'))).toBe(false)
  })

  test("filters that the repository's own configuration names are run neither at its checkout nor at a look", async () => {
    const dir = makeRepository()
    const ran = join(dir, '.git', 'ran')
    writeFileSync(join(dir, '.gitattributes'), '* filter=own.x\n')
    commit(dir, 'attributes')
    for (const kind of ['clean', 'smudge', 'process'])
      git(dir, 'config', `filter.own.x.${kind}`, `sh -c 'touch ${ran}; cat'`)
    git(dir, 'config', 'filter.own.x.required', 'true')
    const terminal = await launch(dir)
    const { path, notes } = worktreeOf(terminal)
    expect(notes).toEqual(["the filter own.x of the repository's own configuration was not run"])
    writeFileSync(join(path, 'a.txt'), 'x\n')
    expect(await listed(terminal.id)).toMatchObject({ changed_files: 1 })
    expect(await real.client.deleteTerminal(terminal.id)).toMatchObject({ worktree: { detail: '1 changed file' } })
    expect(existsSync(ran)).toBe(false)
  })

  test('neither a name with "=" nor a condition hides a filter, and a submodule of the agent runs none', async () => {
    const dir = makeRepository()
    const ran = (what: string) => `sh -c 'touch ${join(dir, '.git', `ran-${what}`)}; cat'`
    const evil = (what: string) => `[filter "${what}"]\n\tclean = "${ran(what)}"\n\tsmudge = "${ran(what)}"\n`
    writeFileSync(join(dir, '.gitattributes'), 'a.txt filter=x=y\nsub/* filter=branch\n*.own filter=own\n')
    commit(dir, 'attributes')
    // A condition that holds in the worktree alone, on its branch.
    writeFileSync(join(dir, '.git', 'branch.inc'), evil('branch'))
    const config = join(dir, '.git', 'config')
    writeFileSync(
      config,
      `${readFileSync(config, 'utf8')}${evil('x=y')}[includeIf "onbranch:cao-**"]\n\tpath = branch.inc\n`,
    )
    git(dir, 'config', 'extensions.worktreeConfig', 'true')
    const marks = () => readdirSync(join(dir, '.git')).filter((name) => name.startsWith('ran-'))
    const terminal = await launch(dir)
    const { path } = worktreeOf(terminal)
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n')
    expect(marks()).toEqual([])
    // What an agent can write while it works: the configuration of its own worktree, and a repository in it.
    writeFileSync(join(path, 'b.own'), 'o\n')
    git(path, 'add', 'b.own')
    writeFileSync(join(git(path, 'rev-parse', '--absolute-git-dir'), 'config.worktree'), evil('own'))
    const inner = join(path, 'inner')
    mkdirSync(inner)
    git(inner, 'init', '--quiet')
    writeFileSync(join(inner, 'c.txt'), 'c\n')
    commit(inner, 'inner')
    git(path, 'update-index', '--add', '--cacheinfo', `160000,${git(inner, 'rev-parse', 'HEAD')},inner`)
    writeFileSync(join(inner, '.git', 'info', 'attributes'), '* filter=deep\n')
    writeFileSync(
      join(inner, '.git', 'config'),
      `${readFileSync(join(inner, '.git', 'config'), 'utf8')}${evil('deep')}`,
    )
    for (const file of ['a.txt', 'b.own', 'sub/b.txt', 'inner/c.txt']) writeFileSync(join(path, file), 'z\n')
    for (const mark of marks()) rmSync(join(dir, '.git', mark))
    expect(await listed(terminal.id)).toMatchObject({ changed_files: 4 })
    expect(await real.client.deleteTerminal(terminal.id)).toMatchObject({ worktree: { state: 'kept' } })
    expect(marks()).toEqual([])
  })

  test('submodules are said to be empty', async () => {
    const inner = makeRepository()
    const dir = makeRepository()
    git(dir, '-c', 'protocol.file.allow=always', 'submodule', 'add', '--quiet', inner, 'inner')
    commit(dir, 'with a submodule')
    const terminal = await launch(dir)
    expect(worktreeOf(terminal).notes).toEqual([expect.stringContaining('submodules are empty') as unknown])
  })

  test('a place where none can be made is refused in a sentence that says why', async () => {
    const plain = join(real.home, 'plain')
    mkdirSync(plain)
    const empty = join(real.home, 'empty')
    mkdirSync(empty)
    git(empty, 'init', '--quiet')
    const bare = join(real.home, 'bare.git')
    mkdirSync(bare)
    git(bare, 'init', '--quiet', '--bare')
    const dir = makeRepository()
    mkdirSync(join(dir, 'fresh'))
    writeFileSync(join(dir, 'fresh', 'x'), '')
    for (const [place, why] of [
      [plain, 'in no git repository'],
      [empty, 'has no commit yet'],
      [bare, 'is bare'],
      [join(dir, 'fresh'), 'fresh is not in the last commit'],
    ] as const) {
      expect(await refusal(launch(place))).toEqual(['BAD_REQUEST', expect.stringContaining(why)])
    }
    await expectNothingLeft(dir, ['main'])
  })

  test('a repository that git can not read is refused, and nothing is left', async () => {
    const dir = makeRepository()
    rmSync(join(dir, '.git', 'objects'), { recursive: true })
    expect((await refusal(launch(dir)))[0]).toBe('BAD_REQUEST')
    const known = (await real.client.listWorktrees({ look: false })).map(({ terminal_id }) => terminal_id)
    expect(readdirSync(real.config.layout.worktreesDir).toSorted()).toEqual(known.toSorted())
  })

  test('an agent that runs already gets none', async () => {
    const dir = makeRepository()
    const terminal = await launch(dir, { use_worktree: false })
    const asked = { kind: 'handoff', agent_profile: 'developer', message: 'reply x' } as const
    const again = real.client.startJob({ ...asked, reuse_terminal_id: terminal.id, use_worktree: true })
    expect(await refusal(again)).toEqual(['BAD_REQUEST', expect.stringContaining('reuse_terminal_id')])
  })

  test('a launch that fails after it was made leaves none', async () => {
    const dir = makeRepository()
    const { terminalsDir } = real.config.layout
    // Where a file stands, the agent's own folder can not be made.
    renameSync(terminalsDir, `${terminalsDir}.aside`)
    writeFileSync(terminalsDir, '')
    const [code] = await refusal(launch(dir))
    rmSync(terminalsDir)
    renameSync(`${terminalsDir}.aside`, terminalsDir)
    expect(code).toBe('INTERNAL')
    await expectNothingLeft(dir, ['main'])
  })
})

describe('ending one', () => {
  test('what is clean and merged goes with its branch, without a word', async () => {
    const dir = makeRepository()
    const terminal = await launch(dir)
    const { path, branch } = worktreeOf(terminal)
    writeFileSync(join(path, 'a.txt'), 'better\n')
    commit(path, 'better')
    git(dir, 'merge', '--quiet', branch)
    const ended = await real.client.deleteTerminal(terminal.id)
    expect(ended).toEqual({ success: true })
    expect([existsSync(join(real.config.layout.worktreesDir, terminal.id)), branches(dir), worktreesOf(dir)]).toEqual([
      false,
      ['main'],
      1,
    ])
    expect(await eventsOf('worktree.removed', terminal.id)).toMatchObject([{ path, branch }])
    expect(await listed(terminal.id)).toBeUndefined()
  })

  const kinds = [
    ['a changed file', (path: string) => writeFileSync(join(path, 'a.txt'), 'x'), '1 changed file', 1, 0],
    ['a new file', (path: string) => writeFileSync(join(path, 'n.txt'), 'x'), '1 changed file', 1, 0],
    [
      'a staged file',
      (path: string) => (writeFileSync(join(path, 'n.txt'), 'x'), git(path, 'add', 'n.txt')),
      '1 changed file',
      1,
      0,
    ],
    ['a commit', (path: string) => commit(path, 'mine'), '1 unmerged commit', 0, 1],
    [
      'a commit on a detached HEAD',
      (path: string) => (git(path, 'checkout', '-q', '--detach'), commit(path, 'mine')),
      '1 unmerged commit',
      0,
      1,
    ],
    [
      'a commit on another branch',
      (path: string) => (git(path, 'checkout', '-q', '-b', 'feat/x'), commit(path, 'mine')),
      '1 unmerged commit',
      0,
      1,
    ],
    [
      'commits and files',
      (path: string) => (commit(path, 'one'), commit(path, 'two'), writeFileSync(join(path, 'a.txt'), 'x')),
      '1 changed file and 2 unmerged commits',
      1,
      2,
    ],
  ] as const

  test('whatever would be lost is kept and told of, and goes only when that is forced', async () => {
    await Promise.all(
      kinds.map(async ([what, work, said, changed, ahead]) => {
        const dir = makeRepository()
        const terminal = await launch(dir)
        const { path, branch } = worktreeOf(terminal)
        work(path)
        const ended = await real.client.deleteTerminal(terminal.id)
        expect(ended, what).toMatchObject({ success: true, worktree: { path, branch, state: 'kept', detail: said } })
        expect(await eventsOf('worktree.kept', terminal.id), what).toMatchObject([
          { path, branch, changed_files: changed, commits_ahead: ahead, detail: said },
        ])
        const found = await listed(terminal.id)
        expect(found, what).toMatchObject({ changed_files: changed, commits_ahead: ahead, used_by: [] })
        expect(existsSync(join(path, 'a.txt')), what).toBe(true)
        const refused = await refusal(real.client.removeWorktree(terminal.id))
        expect(refused, what).toEqual(['CONFLICT', expect.stringContaining(said)])
        expect(existsSync(path), what).toBe(true)
        await real.client.removeWorktree(terminal.id, { force: true })
        const left = [existsSync(path), worktreesOf(dir), branches(dir).includes(branch), await listed(terminal.id)]
        expect(left, what).toEqual([false, 1, false, undefined])
      }),
    )
  })

  test('of two that hold the same commit and end at the same time, one is kept', async () => {
    const dir = makeRepository()
    const first = await launch(dir)
    const second = await launch(dir)
    commit(worktreeOf(first).path, 'mine')
    git(worktreeOf(second).path, 'merge', '--quiet', worktreeOf(first).branch)
    await Promise.all([first, second].map(({ id }) => real.client.deleteTerminal(id)))
    const kept = [await listed(first.id), await listed(second.id)].filter((worktree) => worktree !== undefined)
    expect(kept).toMatchObject([{ state: 'kept', commits_ahead: 1 }])
    expect(branches(dir)).toEqual([kept[0]?.branch, 'main'])
  })

  test('ignored files are no work', async () => {
    const dir = makeRepository()
    writeFileSync(join(dir, '.gitignore'), 'node_modules\n')
    commit(dir, 'ignore')
    const terminal = await launch(dir)
    mkdirSync(join(worktreeOf(terminal).path, 'node_modules'))
    writeFileSync(join(worktreeOf(terminal).path, 'node_modules', 'x'), '')
    expect(await real.client.deleteTerminal(terminal.id)).toEqual({ success: true })
  })

  test('one that is merged after its agent ended goes at the next start, and not before', async () => {
    const dir = makeRepository()
    const terminal = await launch(dir)
    const { path, branch } = worktreeOf(terminal)
    commit(path, 'mine')
    await real.client.deleteTerminal(terminal.id)
    git(dir, 'merge', '--quiet', branch)
    expect(existsSync(path)).toBe(true)
    await real.close()
    await real.open()
    await eventually('the merged worktree to go', async () => (existsSync(path) ? undefined : true))
    await eventually('its row to go', async () => ((await listed(terminal.id)) === undefined ? true : undefined))
    expect(branches(dir)).toEqual(['main'])
  })

  test('one that is locked, or whose repository is gone, is kept and says so', async () => {
    const dir = makeRepository()
    const locked = await launch(dir)
    git(dir, 'worktree', 'lock', worktreeOf(locked).path)
    expect(await real.client.deleteTerminal(locked.id)).toMatchObject({
      worktree: { detail: expect.stringContaining('locked') as unknown },
    })
    const [code, why] = await refusal(real.client.removeWorktree(locked.id, { force: true }))
    expect([code, why]).toEqual(['CONFLICT', expect.stringContaining('git worktree unlock')])
    git(dir, 'worktree', 'unlock', worktreeOf(locked).path)
    await real.client.removeWorktree(locked.id)
    const orphan = await launch(dir)
    rmSync(dir, { recursive: true })
    expect(await real.client.deleteTerminal(orphan.id)).toMatchObject({ worktree: { state: 'kept' } })
    expect(existsSync(worktreeOf(orphan).path)).toBe(true)
    await real.client.removeWorktree(orphan.id, { force: true })
    expect(existsSync(worktreeOf(orphan).path)).toBe(false)
  })

  test('one in which a worker of its agent works stays until that has ended', async () => {
    const dir = makeRepository()
    const boss = await launch(dir)
    const { path } = worktreeOf(boss)
    const worker = await real.client.createTerminal(boss.session_name, {
      agent_profile: 'developer',
      provider: 'scripted',
      caller_id: boss.id,
    })
    expect([worker.working_directory, worker.worktree]).toEqual([path, null])
    const [code, why] = await refusal(real.client.removeWorktree(boss.id, { force: true }))
    expect([code, why]).toEqual(['CONFLICT', expect.stringContaining(`${boss.id}, ${worker.id} works in it`)])
    await real.client.deleteTerminal(boss.id)
    expect([existsSync(path), (await listed(boss.id))?.used_by]).toEqual([true, [worker.id]])
    await real.client.deleteTerminal(worker.id)
    expect([existsSync(path), await listed(boss.id)]).toEqual([false, undefined])
  })

  test('one that a person removed is told of, and its branch stays while it holds commits', async () => {
    const dir = makeRepository()
    const terminal = await launch(dir)
    const { path, branch } = worktreeOf(terminal)
    commit(path, 'mine')
    rmSync(path, { recursive: true })
    await real.close()
    await real.open()
    await eventually('the news', async () =>
      (await eventsOf('worktree.missing', terminal.id)).length === 1 ? true : undefined,
    )
    expect((await real.client.getTerminal(terminal.id)).worktree).toMatchObject({ state: 'missing' })
    await real.client.deleteTerminal(terminal.id)
    expect(branches(dir)).toContain(branch)
    expect(await listed(terminal.id)).toMatchObject({ state: 'missing', commits_ahead: 1 })
    git(dir, 'merge', '--quiet', branch)
    await real.client.removeWorktree(terminal.id)
    expect([branches(dir), worktreesOf(dir)]).toEqual([['main'], 1])
  })

  test('the worktrees of others, also those whose disk is not there, are never touched', async () => {
    const dir = makeRepository()
    const other = join(real.home, `other-${made}`)
    git(dir, 'worktree', 'add', '--quiet', '-b', 'theirs', other)
    rmSync(other, { recursive: true })
    const terminal = await launch(dir)
    await real.client.deleteTerminal(terminal.id)
    expect(git(dir, 'worktree', 'list', '--porcelain')).toContain('branch refs/heads/theirs')
  })
})

describe('callers and recovery', () => {
  test('the caller of a worker whose work is kept is told where it is and what is in it', async () => {
    const dir = makeRepository()
    const boss = await launch(dir, { agent_profile: 'code_supervisor', use_worktree: false })
    const job = await real.client.startJob({
      kind: 'handoff',
      agent_profile: 'developer',
      message: 'wait 3000\nreply done',
      caller_id: boss.id,
      use_worktree: true,
      provider: 'scripted',
    })
    const worker = await real.client.getTerminal(job.terminal_id ?? '')
    const { path, branch } = worktreeOf(worker)
    writeFileSync(join(path, 'made.txt'), 'made\n')
    const notice = await eventually('the notice', async () =>
      (await real.client.listMessages(boss.id, { limit: 50 })).find(({ message }) => message.includes('was kept')),
    )
    for (const part of ['1 changed file', path, branch, `cao worktree remove ${worker.id}`])
      expect(notice.message).toContain(part)
    expect(await eventsOf('worktree.kept', worker.id)).toHaveLength(1)
  })

  test('an agent may remove the worktree of its worker when nothing is lost, no other and not by force', async () => {
    const dir = makeRepository()
    const boss = await launch(dir, { use_worktree: false })
    const worker = await real.client.createTerminal(boss.session_name, {
      agent_profile: 'developer',
      provider: 'scripted',
      caller_id: boss.id,
      use_worktree: true,
    })
    const other = await launch(dir)
    for (const { id, worktree } of [worker, other]) commit(worktree?.path ?? '', id)
    await Promise.all([worker, other].map(({ id }) => real.client.deleteTerminal(id)))
    const headers = { 'x-cao-capability': await real.capability(boss.id) }
    const remove = async (id: string, query = '') =>
      (await real.ask('DELETE', `/worktrees/${id}${query}`, { headers })).status
    expect(await remove(other.id)).toBe(403)
    expect(await remove(worker.id, '?force=true')).toBe(403)
    expect(await remove(worker.id)).toBe(409)
    git(dir, 'merge', '--quiet', worktreeOf(worker).branch)
    expect([await remove(worker.id), await remove(worker.id)]).toEqual([200, 403])
  })

  test('an agent that is taken up again works in the same worktree, and hears when it is gone', async () => {
    const dir = makeRepository()
    const terminal = await launch(dir)
    const { path, branch } = worktreeOf(terminal)
    commit(path, 'mine')
    const end = async () => {
      await real.client.exitTerminal(terminal.id)
      await eventually('its end', async () =>
        (await real.client.getTerminal(terminal.id)).life === 'exited' ? true : undefined,
      )
    }
    await end()
    await real.close()
    await real.open()
    const again = await real.client.recoverTerminal(terminal.id, {})
    expect(again).toMatchObject({ life: 'live', working_directory: path, worktree: { path, branch } })
    await end()
    rmSync(path, { recursive: true })
    const [code, why] = await refusal(real.client.recoverTerminal(terminal.id, {}))
    expect([code, why]).toEqual(['DIRECTORY_MISSING', expect.stringContaining(`worktree add -f ${path} ${branch}`)])
    git(dir, 'worktree', 'add', '-f', path, branch)
    expect(existsSync(path)).toBe(true)
  })
})

describe('the set-up of a project', () => {
  const nameSetup = (dir: string, setup: unknown) => {
    mkdirSync(join(dir, '.cao'), { recursive: true })
    writeFileSync(join(dir, '.cao', 'worktree.json'), typeof setup === 'string' ? setup : JSON.stringify(setup))
  }
  const allow = async (dir: string) => {
    const { digest } = await real.client.showWorktreeSetup(dir)
    return real.client.trustWorktreeSetup(dir, digest ?? undefined)
  }

  test('is not run until a person allows exactly this file, and not by an agent', async () => {
    const dir = makeRepository()
    nameSetup(dir, { setup: ['sh', '-c', 'pwd > where; echo "$CAO_WORKTREE_BRANCH $CAO_WORKTREE_SOURCE" > what'] })
    const first = await launch(dir)
    expect(worktreeOf(first).notes.at(-1)).toContain(`"cao worktree trust ${dir}" allows it`)
    expect(existsSync(join(worktreeOf(first).path, 'where'))).toBe(false)
    const headers = { 'x-cao-capability': await real.capability(first.id) }
    const { digest } = await real.client.showWorktreeSetup(dir)
    const asAgent = await real.ask('PUT', '/worktrees/setup', { headers, body: { directory: dir, digest } })
    expect(asAgent.status).toBe(403)
    expect(await allow(dir)).toMatchObject({
      is_allowed: true,
      argv: ['sh', '-c', expect.any(String) as unknown],
      timeout_s: 120,
    })
    const second = await launch(join(dir, 'sub'))
    const { path, branch } = worktreeOf(second)
    expect(readFileSync(join(path, 'where'), 'utf8')).toBe(`${path}\n`)
    expect(readFileSync(join(path, 'what'), 'utf8')).toBe(`${branch} ${dir}\n`)
    nameSetup(dir, { setup: ['touch', 'other'] })
    expect(await refusal(real.client.trustWorktreeSetup(dir, digest ?? ''))).toEqual(['CONFLICT', expect.any(String)])
    const third = await launch(dir)
    expect(existsSync(join(worktreeOf(third).path, 'other'))).toBe(false)
    await allow(dir)
    await real.client.trustWorktreeSetup(dir, undefined)
    expect(await real.client.showWorktreeSetup(dir)).toMatchObject({ is_allowed: false })
  })

  test.each([
    [
      'ends with an error',
      { setup: ['sh', '-c', 'echo first; echo why >&2; exit 3'] },
      'LAUNCH_FAILED',
      'ended with code 3',
    ],
    [
      'takes too long',
      { setup: ['sh', '-c', 'echo why; sleep 100'], timeout_s: 1 },
      'TIMEOUT',
      'did not end within 1 s',
    ],
    ['is not there', { setup: ['no-such-program-here'] }, 'LAUNCH_FAILED', 'ended with code 127'],
  ] as const)(
    'one that %s fails the launch with its last lines, and nothing is left',
    async (...[, setup, code, said]) => {
      const dir = makeRepository()
      nameSetup(dir, setup)
      commit(dir, 'set-up')
      await allow(dir)
      const before = await real.client.listTerminals()
      const [was, message] = await refusal(launch(dir))
      expect([was, message]).toEqual([code, expect.stringContaining(said)])
      const log = /its output is in (\S+)/.exec(message)?.[1] ?? ''
      expect(readFileSync(log, 'utf8')).toMatch(/why|not found/)
      expect(statSync(log).mode & 0o777).toBe(0o600)
      await expectNothingLeft(dir, ['main'])
      expect(await real.client.listTerminals()).toEqual(before)
    },
  )

  test.each([
    ['no JSON', '{', 'no JSON'],
    ['a command line', { setup: 'npm ci' }, 'setup'],
    ['an unknown field', { setup: ['true'], run: 1 }, 'run'],
    ['an endless time', { setup: ['true'], timeout_s: 100_000 }, 'timeout_s'],
  ] as const)('a file with %s is refused', async (...[, setup, said]) => {
    const dir = makeRepository()
    nameSetup(dir, setup)
    expect(await refusal(launch(dir))).toEqual(['BAD_REQUEST', expect.stringContaining(said)])
    await expectNothingLeft(dir, ['main'])
  })
})
