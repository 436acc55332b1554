/** The scripted agent as a person at a real tmux meets it. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TmuxPane, waitFor } from './tmux-pane.case.ts'

const odd = 'tab\there  "quotes" \'single\' $HOME `id` #(touch x) \\ end; 你好 😀 👩‍💻 é ;'

describe('messages', () => {
  test.each(['inline', 'alternate'])('typed text arrives byte for byte, and is answered (%s)', async (screen) => {
    await using pane = await TmuxPane.start(['--screen', screen])
    await pane.type(odd)
    await pane.press('Enter')
    expect(await pane.waitForRecords('user', 1)).toEqual([odd])
    await pane.say('Hello!\nreply first\\nsecond')
    expect((await pane.waitForRecords('assistant', 2))[1]).toBe('first\nsecond')
    await pane.waitForScreen(/● first\s+second/)
  })

  test('a paste of several lines is one draft, shown whole while it is small', async () => {
    await using pane = await TmuxPane.start()
    await pane.paste('one\ntwo\n\nfour')
    await pane.waitForScreen(/❯ one +│\n│ +two +│\n│ +│\n│ +four/)
    await pane.press('Enter')
    expect(await pane.waitForRecords('user', 1)).toEqual(['one\ntwo\n\nfour'])
  })

  test('a large paste is shown collapsed and sent whole', async () => {
    await using pane = await TmuxPane.start()
    const text = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n')
    await pane.paste(text)
    await pane.waitForScreen(`❯ [Pasted 40 lines · ${text.length} chars]`)
    await pane.press('Enter')
    expect(await pane.waitForRecords('user', 1)).toEqual([text])
  })

  test('a paste of 1 MB with line ends of every kind arrives byte for byte, as one message', async () => {
    await using pane = await TmuxPane.start()
    const text = `${odd}\r\n\r${'0123456789 äöü 😀\n'.repeat(52_000)}end`
    expect(Buffer.byteLength(text)).toBeGreaterThan(1_000_000)
    await pane.paste(text)
    await pane.waitForScreen(`${text.length} chars]`)
    await pane.press('Enter')
    const [accepted] = await pane.waitForRecords('user', 1)
    expect(accepted === text).toBe(true)
    await pane.waitForRecords('assistant', 1)
    expect(pane.texts('user')).toHaveLength(1)
  })

  test('C-u and C-c empty the composer, C-c twice ends the program with code 0', async () => {
    await using pane = await TmuxPane.start()
    await pane.type('one')
    await pane.press('C-u')
    await pane.type('two')
    await pane.waitForScreen('❯ two')
    await pane.press('C-c')
    await pane.waitForScreen('press C-c again')
    expect(await pane.screen()).toContain('❯ Say what to do')
    await pane.press('C-c')
    expect(await pane.waitForExit()).toBe('0')
    expect(pane.texts('user')).toEqual([])
  })

  test.each(['/exit', '/quit'])('%s ends the program with code 0', async (command) => {
    await using pane = await TmuxPane.start()
    await pane.type(command)
    await pane.press('Enter')
    expect(await pane.waitForExit()).toBe('0')
  })

  test('what is said during a turn waits in sight, and is taken after it, in order', async () => {
    await using pane = await TmuxPane.start()
    await pane.say('hang')
    await pane.waitForScreen('Working…')
    await pane.say('reply second')
    await pane.say('reply third')
    await pane.waitForScreen(/↳ queued: reply second\n.*↳ queued: reply third/)
    expect(pane.texts('user')).toEqual(['hang'])
    await pane.press('Escape')
    await pane.waitForRecords('assistant', 2)
    expect(pane.records.map((line) => `${line.type} ${line.text}`).slice(1)).toEqual([
      'user hang',
      'interrupted ',
      'user reply second',
      'assistant second',
      'user reply third',
      'assistant third',
    ])
  })

  test('a header line before the body is no part of the rules, and stays in the record', async () => {
    await using pane = await TmuxPane.start()
    const text = '[cao assign 3fa9c2d41b7e from 1a2b3c4d]\nreply got it'
    await pane.say(text)
    expect(await pane.waitForRecords('assistant', 1)).toEqual(['got it'])
    expect(pane.texts('user')).toEqual([text])
  })

  test('collect lets the turn end and goes on with the last of the messages', async () => {
    await using pane = await TmuxPane.start()
    await pane.say('say asked\ncollect 2\nreply got: {messages}')
    await pane.waitForRecords('assistant', 1)
    await pane.say('[cao callback 3fa9c2d41b7e from 1a2b3c4d]\nalpha')
    await pane.waitForRecords('assistant', 2)
    await pane.say('beta')
    expect(await pane.waitForRecords('assistant', 3)).toEqual([
      'asked\nWaiting for 2 messages.',
      '1 of 2 messages are here.',
      'got: alpha\nbeta',
    ])
  })

  test('a playbook gives rules to messages that bring none', async () => {
    await using pane = await TmuxPane.start()
    const file = join(pane.folder, 'playbook')
    writeFileSync(file, 'reply by the book')
    await pane.launch(['--playbook', file])
    await pane.waitForScreen('Enter to send')
    await pane.say('do something')
    await pane.waitForRecords('assistant', 1)
    await pane.say('reply by the message')
    expect(await pane.waitForRecords('assistant', 2)).toEqual(['by the book', 'by the message'])
  })
})

describe('questions', () => {
  test('a tool asks first, runs when allowed, and does not ask again when told so', async () => {
    await using pane = await TmuxPane.start()
    await pane.say('tool echo one')
    await pane.waitForScreen('❯ 1. Yes')
    await pane.press('Down')
    await pane.waitForScreen('❯ 2. Yes, and')
    await pane.press('Enter')
    expect(await pane.waitForRecords('tool', 1)).toEqual(['echo one\none'])
    await pane.say('tool echo two')
    expect((await pane.waitForRecords('assistant', 2))[1]).toBe('DONE two')
  })

  test.each([['Escape'], ['3']])('a tool that is rejected by %s is not run, and the turn ends', async (key) => {
    await using pane = await TmuxPane.start()
    await pane.say(`tool touch '${join('.', 'made')}'\nreply after`)
    await pane.waitForScreen('❯ 1. Yes')
    await pane.press(key)
    await pane.waitForRecords('interrupted', 1)
    await pane.waitForScreen('⎋ Interrupted')
    expect(pane.records.map((line) => line.type)).toEqual(['session', 'user', 'question', 'interrupted'])
  })

  test("a question takes an option by number, and a text of one's own", async () => {
    await using pane = await TmuxPane.start()
    const rules = 'ask Which colour? | Red | Blue\nreply it is {result}'
    await pane.say(rules)
    await pane.waitForScreen('❯ 1. Red')
    await pane.press('2')
    expect(await pane.waitForRecords('assistant', 1)).toEqual(['it is Blue'])
    await pane.say(rules)
    await pane.waitForScreen('3. Something else')
    await pane.type('3green, please')
    await pane.waitForScreen('» green, please')
    await pane.press('Enter')
    expect((await pane.waitForRecords('assistant', 2))[1]).toBe('it is green, please')
  })

  test('the trust question comes before the composer, and No ends the program', async () => {
    await using pane = await TmuxPane.start(['--trust-dialog'], { waitFor: '1. Yes, I trust' })
    await pane.press('1')
    await pane.waitForScreen('Enter to send')
    await pane.launch(['--trust-dialog'])
    await pane.waitForScreen('1. Yes, I trust')
    await pane.press('2')
    expect(await pane.waitForExit()).toBe('1')
  })
})

describe('what it tells', () => {
  test('hooks hear of everything in order, after it is in the record', async () => {
    await using pane = await TmuxPane.start()
    await pane.launch([...pane.hookFlags(), '--session-id', 'mine'])
    await pane.waitForScreen('Enter to send')
    await pane.say('ask Go? | Yes\nreply fine')
    await pane.waitForScreen('❯ 1. Yes')
    await pane.press('1')
    await pane.waitForRecords('assistant', 1)
    await pane.say('error 429')
    await pane.waitForScreen('✗ API error 429')
    await pane.say('/exit')
    await pane.waitForExit()
    expect(pane.hooks.map((hook) => `${hook.event} ${hook.records - 1}`)).toEqual([
      'SessionStart 1',
      'PromptAccepted 2',
      'TurnStarted 2',
      'QuestionOpened 3',
      'QuestionClosed 3',
      'TurnEnded 4',
      'PromptAccepted 5',
      'TurnStarted 5',
      'Failed 6',
      'TurnEnded 6',
      'SessionEnd 6',
    ])
    const [, accepted, , opened, , ended, , , failed] = pane.hooks.map((hook) => hook.payload)
    expect(accepted).toMatchObject({ sessionId: 'mine', text: 'ask Go? | Yes\nreply fine' })
    expect(opened).toMatchObject({ kind: 'question', text: 'Go?', options: ['Yes', 'Something else (type it)'] })
    expect(ended).toMatchObject({ outcome: 'answered', answer: 'fine', turn: accepted?.['id'] })
    expect(failed).toMatchObject({ reason: 'rate_limited', detail: 'API error 429' })
  })

  test('a hook that hangs holds a turn for two seconds and no longer', async () => {
    await using pane = await TmuxPane.start()
    await pane.launch(['--hook-argv', '["/bin/sh","-c","[ \\"$1\\" != TurnStarted ] || exec sleep 30","hook"]'])
    await pane.waitForScreen('Enter to send')
    await pane.say('reply late')
    expect(await pane.waitForRecords('assistant', 1)).toEqual(['late'])
    await pane.waitForScreen('hook TurnStarted: timed-out')
  })

  test('the title names what it is doing', async () => {
    await using pane = await TmuxPane.start()
    const title = (state: string) =>
      waitFor(`the title ${state}`, async () =>
        (await pane.format('#{pane_title}')) === `scripted · ${state}` ? true : undefined,
      )
    await title('ready')
    await pane.say('hang')
    await title('working')
    await pane.press('Escape')
    await title('ready')
    await pane.say('tool true')
    await title('permission')
  })

  test('a conversation goes on with what was said before, under its own id', async () => {
    await using pane = await TmuxPane.start(['--session-id', 'mine'])
    await pane.say('reply remember me')
    await pane.waitForRecords('assistant', 1)
    await pane.say('/exit')
    expect(await pane.waitForExit()).toBe('0')
    await pane.launch(['--resume', 'mine'])
    await pane.waitForScreen(/● remember me[^]*Enter to send/)
    expect(await pane.screen()).toContain('❯ reply remember me')
    await pane.say('reply again')
    await pane.waitForRecords('assistant', 2)
    expect(pane.records.filter((line) => line.type === 'session').map((line) => line.sessionId)).toEqual([
      'mine',
      'mine',
    ])
  })
})

test('a conversation that is not there can not be taken up', async () => {
  await using pane = await TmuxPane.start()
  await pane.say('/exit')
  await pane.waitForExit()
  const missing = join(pane.folder, 'none.jsonl')
  await pane.launch(['--transcript', missing, '--resume', 'mine'])
  expect(await pane.waitForExit()).toBe('1')
  expect(existsSync(missing)).toBe(false)
})

describe('the screen', () => {
  test.each(['inline', 'alternate'])('is painted anew for another size, draft included (%s)', async (screen) => {
    await using pane = await TmuxPane.start(['--screen', screen])
    await pane.say('markdown')
    await pane.waitForRecords('assistant', 1)
    await pane.type('word '.repeat(40))
    await pane.resize(200, 50)
    await waitFor('one whole frame of 200 columns', async () => {
      const lines = (await pane.screen()).split('\n')
      return lines.some((line) => line === `╭${'─'.repeat(198)}╮`) ? true : undefined
    })
    await pane.resize(80, 24)
    const text = await pane.waitForScreen(new RegExp(`╭─{78}╮\\n(│.*[│┆]\\n){3}╰─{78}╯`))
    expect(text.match(/╭─{78}╮/g)).toHaveLength(1)
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(24)
  })

  test('starts to its composer quickly', async () => {
    await using pane = await TmuxPane.start()
    const startedAtMs = performance.now()
    await pane.launch([])
    await pane.waitForScreen('Enter to send')
    expect(performance.now() - startedAtMs).toBeLessThan(3_000)
  })
})

describe('misbehaviours', () => {
  test('Enters are swallowed as often as told, by flag and by rule', async () => {
    await using pane = await TmuxPane.start(['--swallow-enters', '1'])
    await pane.say('swallow-enter 2')
    await pane.waitForScreen('❯ swallow-enter 2')
    expect(pane.texts('user')).toEqual([])
    await pane.press('Enter')
    await pane.waitForRecords('assistant', 1)
    await pane.type('hello')
    await pane.press('Enter', 'Enter')
    await pane.waitForScreen(/│ ❯ hello/)
    expect(pane.texts('user')).toHaveLength(1)
    await pane.press('Enter')
    await pane.waitForRecords('user', 2)
  })

  test('a slow painter shows the draft late', async () => {
    await using pane = await TmuxPane.start(['--slow-paint', '400'])
    const startedAtMs = performance.now()
    await pane.type('hello')
    await pane.waitForScreen('❯ hello')
    expect(performance.now() - startedAtMs).toBeGreaterThan(380)
  })

  test('a frozen program takes what was typed meanwhile when it thaws', async () => {
    await using pane = await TmuxPane.start()
    await pane.say('freeze 700\nreply thawed')
    await pane.waitForRecords('user', 1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await pane.type('meanwhile')
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(await pane.screen()).not.toContain('meanwhile')
    await pane.waitForScreen('❯ meanwhile')
    expect(await pane.waitForRecords('assistant', 1)).toEqual(['thawed'])
  })

  test('a crash in mid-turn leaves the question in the record and no answer', async () => {
    await using pane = await TmuxPane.start()
    await pane.say('crash 7')
    expect(await pane.waitForExit()).toBe('7')
    expect(pane.records.map((line) => line.type)).toEqual(['session', 'user'])
  })

  test('a flood ends, and the composer is there again', async () => {
    await using pane = await TmuxPane.start()
    await pane.say('flood 2048')
    expect(await pane.waitForRecords('assistant', 1)).toEqual(['flooded 2048 KiB'])
    await pane.waitForScreen(/● flooded 2048 KiB[^]*Enter to send/)
  })

  test('without bracketed paste each line is a message', async () => {
    await using pane = await TmuxPane.start(['--no-bracketed-paste'])
    await pane.paste('one\ntwo\nthree')
    expect(await pane.waitForRecords('user', 2)).toEqual(['one', 'two'])
    await pane.waitForScreen('❯ three')
  })

  test('hooks can be ignored and the start can be slow', async () => {
    await using pane = await TmuxPane.start()
    await pane.launch([...pane.hookFlags(), '--ignore-hooks', '--startup-ms', '400'])
    await pane.waitForScreen('scripted is starting…')
    await pane.waitForScreen('Enter to send')
    await pane.say('reply quiet')
    await pane.waitForRecords('assistant', 1)
    expect(pane.hooks).toEqual([])
  })
})
