import { describe, expect, it, test } from 'vitest'
import { checkExtraEnv, selectClientEnv, selectKeptEnv, valueBytesMax } from './agent-env.ts'

test('variables that a person keeps reach agents, but for those by which CAO knows them', () => {
  const kept = { DEPLOY_TOKEN: 's', PATH: '/opt/bin', CLAUDE_CODE_OAUTH_TOKEN: 't' }
  expect(selectKeptEnv({ ...kept, CAO_TERMINAL_ID: '1a2b3c4d', TMUX: 'x', CODEX_SANDBOX: 'y' })).toEqual(kept)
})

describe('selectClientEnv', () => {
  it('keeps what says who the person is, and drops what is of another program or a surrounding agent', () => {
    const kept = {
      HOME: '/home/dev',
      PATH: '/usr/bin',
      LC_ALL: 'C.UTF-8',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      CLAUDE_CONFIG_DIR: '/home/dev/claude-work',
      CLAUDE_CODE_OAUTH_TOKEN: 't',
      CLAUDE_CODE_EFFORT_LEVEL: 'high',
      CLAUDE_CODE_USE_BEDROCK: '1',
      CODEX_HOME: '/home/dev/codex-work',
    }
    const dropped = {
      CLAUDECODE: '1',
      CLAUDE_CODE_SESSION_ID: 's',
      CLAUDE_CODE_MESSAGING_TOKEN: 'm',
      CODEX_THREAD_ID: 't',
      TMUX: '/tmp/x',
      CAO_TERMINAL_ID: '1a2b3c4d',
      GITHUB_TOKEN: 'secret',
      UNSET: undefined,
    }
    expect(selectClientEnv({ ...kept, ...dropped })).toEqual(kept)
  })

  it('leaves out values that are too long, but for the PATH', () => {
    const long = 'x'.repeat(valueBytesMax + 1)
    expect(selectClientEnv({ HOME: long, PATH: long })).toEqual({ PATH: long })
  })
})

describe('checkExtraEnv', () => {
  it.each(['MY_KEY', 'CLAUDE_CONFIG_DIR'])('lets %s through', (name) => {
    expect(checkExtraEnv({ [name]: 'v' })).toEqual({ [name]: 'v' })
  })

  it.each(['CAO_TERMINAL_ID', 'CLAUDE_CODE_SESSION_ID', 'TMUX', '1X'])(
    'refuses %s by name, without its value',
    (name) => {
      expect(() => checkExtraEnv({ [name]: 'secret' })).toThrow(
        expect.objectContaining({ code: 'BAD_REQUEST', message: expect.not.stringContaining('secret') as unknown }),
      )
    },
  )
})
