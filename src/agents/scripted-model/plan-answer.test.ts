import { describe, expect, it } from 'vitest'
import { cleanUserText, findTool, type Item, type ModelRequest, shellArguments, type Tool } from './conversation.ts'
import { type Act, planAnswer } from './plan-answer.ts'

const bash: Tool = {
  name: 'bash',
  schema: {
    properties: { command: { type: 'string' }, description: { type: 'string' }, timeout: { type: 'number' } },
    required: ['command', 'description'],
  },
}
const handoff: Tool = { name: 'cao_handoff', schema: {} }
const question: Tool = { name: 'question', schema: {} }

const user = (text: string): Item => ({ kind: 'user', text })
const assistant: Item = { kind: 'assistant' }
const result = (text: string): Item => ({ kind: 'result', text })

function request(items: readonly Item[], tools: readonly Tool[] = [bash, handoff, question]): ModelRequest {
  return { model: 'scripted', isStreaming: true, systemPrompt: '', tools, items }
}

const actsOf = (...items: Item[]): readonly Act[] => {
  const answer = planAnswer(request(items))
  if (answer.kind !== 'acts') throw new Error(`an answer of kind ${answer.kind}`)
  return answer.acts
}

const say = (text: string): readonly Act[] => [{ kind: 'text', text }]

describe('planAnswer', () => {
  it('obeys the rules below the header and ignores prose', () => {
    expect(actsOf(user('[cao message 7f3a12345678 from 1a2b3c4d]\nPlease.\nsay one\nreply two\\nthree'))).toEqual([
      { kind: 'text', text: 'one\n\n' },
      { kind: 'text', text: 'two\nthree' },
    ])
  })

  it('echoes the first line of a message without rules', () => {
    expect(actsOf(user('[cao message 7f3a12345678 from 1a2b3c4d]\nGood morning\nyou'))).toEqual(
      say('You said: Good morning'),
    )
  })

  it('goes on after a tool result, and can use it', () => {
    const script = user('tool echo hi\ncall handoff {"text":"got {result}"}\nreply all: {results}')
    expect(actsOf(script)).toEqual([
      { kind: 'call', tool: 'bash', args: { command: 'echo hi', description: 'run a scripted command' } },
    ])
    expect(actsOf(script, assistant, result('hi'))).toEqual([
      { kind: 'call', tool: 'cao_handoff', args: { text: 'got hi' } },
    ])
    expect(actsOf(script, assistant, result('hi'), assistant, result('yes'))).toEqual(say('all: hi\nyes'))
  })

  it('forgets the rest of a turn that was cut short', () => {
    expect(actsOf(user('slow 20\nreply never'), assistant, user('reply now'))).toEqual(say('now'))
  })

  it('does not do again what was broken off, where a program makes one message of it and the next', () => {
    const header = '[cao message 7f3a12345678 from 1a2b3c4d]'
    expect(actsOf(user(`hang\n\nerror 400\n\n${header}\nreply now`))).toEqual(say('now'))
    expect(actsOf(user('say one\n\nreply two'))).toEqual([{ kind: 'text', text: 'one\n\n' }, ...say('two')])
  })

  it('passes over a message that holds nothing but a reminder', () => {
    expect(actsOf(user('reply asked'), user('<system-reminder>the date</system-reminder>'))).toEqual(say('asked'))
  })

  it('forgets what a person stopped in the middle of a tool', () => {
    const stopped: Item = { kind: 'interrupted' }
    const items = [user('tool sleep 9\nreply never'), assistant, result('rejected'), stopped]
    expect(actsOf(...items, user('reply now'))).toEqual(say('now'))
  })

  it('does a message that came in mid-turn after the rules that still stand', () => {
    const items = [user('tool true\nreply first'), assistant, result('ok'), user('reply second')]
    expect(actsOf(...items)).toEqual(say('first'))
    expect(actsOf(...items, assistant, user('reply third'))).toEqual(say('third'))
  })

  it('collects messages and goes on with the last of them', () => {
    const script = user('say asking\ncollect 2\nreply got: {messages}')
    expect(actsOf(script)).toEqual([
      { kind: 'text', text: 'asking\n\n' },
      { kind: 'text', text: 'Waiting for 2 messages.' },
    ])
    const first = [script, assistant, user('[cao message 7f3a12345678 from 1a2b3c4d]\nreply a')]
    expect(actsOf(...first)).toEqual(say('1 of 2 messages are here.'))
    expect(actsOf(...first, assistant, user('b'))).toEqual(say('got: reply a\nb'))
    expect(actsOf(...first, assistant, user('b'), assistant, user('reply again'))).toEqual(say('again'))
  })

  it('answers an error rule with that HTTP status', () => {
    expect(planAnswer(request([user('say hm\nerror 429')]))).toEqual({ kind: 'error', httpStatus: 429 })
    const limited = { kind: 'error', httpStatus: 429, limitS: 60 }
    expect(planAnswer(request([user('limit 60')]))).toEqual(limited)
  })

  it('answers a request without tools, as for a title, at once', () => {
    expect(planAnswer(request([user('hang')], []))).toEqual({ kind: 'acts', acts: say('Scripted title') })
  })

  it('streams words as long as asked', () => {
    const acts = actsOf(user('slow 0.5'))
    expect(acts.filter((act) => act.kind === 'pause').reduce((sum, act) => sum + act.ms, 0)).toBe(500)
  })

  it('asks with the question tool, and in plain text where there is none', () => {
    expect(actsOf(user('ask Which? | Red | Blue'))).toEqual([
      {
        kind: 'call',
        tool: 'question',
        args: {
          questions: [
            {
              question: 'Which?',
              header: 'Question',
              options: [
                { label: 'Red', description: 'Red' },
                { label: 'Blue', description: 'Blue' },
              ],
            },
          ],
        },
      },
    ])
    const form: Tool = { name: 'ask_user', schema: { properties: { message: {}, requestedSchema: {} } } }
    const properties = { answer: { type: 'string', title: 'Answer', enum: ['Red', 'Blue'] } }
    expect(planAnswer(request([user('ask Which? | Red | Blue')], [form]))).toEqual({
      kind: 'acts',
      acts: [
        {
          kind: 'call',
          tool: 'ask_user',
          args: { message: 'Which?', requestedSchema: { properties, required: ['answer'] } },
        },
      ],
    })
    expect(planAnswer(request([user('ask Which? | Red')], [bash]))).toEqual({ kind: 'acts', acts: say('Which?\nRed') })
  })

  it('says which tools there are when the one it should call is not', () => {
    expect(planAnswer(request([user('call assign {}')], [bash]))).toEqual({
      kind: 'acts',
      acts: say('No tool assign among: bash'),
    })
  })
})

describe('reading a conversation', () => {
  it('drops what the CLI put into the text and unwraps a message sent in mid-turn', () => {
    expect(cleanUserText('reply a<system-reminder>\nreply b\n</system-reminder>')).toBe('reply a')
    const wrapped = `<system-reminder>
The user sent the following message:
[cao message 7f3a12345678 from 1a2b3c4d]
reply a

Please address this message and continue with your tasks.
</system-reminder>`
    expect(cleanUserText(wrapped)).toBe('[cao message 7f3a12345678 from 1a2b3c4d]\nreply a')
  })

  it('takes a paste out of the mark that a CLI puts around it', () => {
    const pasted =
      '\n\n<pasted_content id="9c4e">\n[cao assign 7f3a12345678 from 1a2b3c4d]\nreply a\n</pasted_content id="9c4e">\n'
    expect(actsOf(user(pasted))).toEqual(say('a'))
    expect(cleanUserText(pasted).trim()).toBe('[cao assign 7f3a12345678 from 1a2b3c4d]\nreply a')
  })

  it('finds a tool behind the name of its server', () => {
    const tools = [bash, handoff, { name: 'mcp__cao-mcp-server__send_message', schema: {} }]
    expect(['handoff', 'send_message', 'cao_handoff', 'off'].map((name) => findTool(tools, name)?.name)).toEqual([
      'cao_handoff',
      'mcp__cao-mcp-server__send_message',
      'cao_handoff',
      undefined,
    ])
  })

  it('fills what a shell tool demands beside the command', () => {
    const odd: Tool = {
      name: 'run_commands',
      schema: {
        properties: { commands: { type: 'array' }, mode: { enum: ['fast', 'slow'] }, wait: { type: 'boolean' } },
        required: ['commands', 'mode', 'wait'],
      },
    }
    expect(shellArguments(odd, 'ls')).toEqual({ commands: ['ls'], mode: 'fast', wait: false })
  })
})
