import { expect, test } from 'vitest'
import { claudeOperations } from './claude_code/answer-keys.ts'
import { codexOperations } from './codex/answer-keys.ts'
import { opencodeOperations } from './opencode_cli/answer-keys.ts'
import { findOperation } from './operation.ts'
import { scriptedOperations } from './scripted/question.ts'

/** Texts as the recorded screens of each program give them. */
test.each([
  [claudeOperations, 'Bash command\ntouch made-by-tool\nDo you want to proceed?', 'command', 'touch made-by-tool'],
  [claudeOperations, 'Create file\nnew.txt\n1 hello\n2 world\nDo you want to create new.txt?', 'file', 'new.txt'],
  [
    codexOperations,
    'Would you like to run the following command?\nEnvironment: local\nReason: The tests need it.\n$ touch allowed',
    'command',
    'touch allowed',
  ],
  [codexOperations, 'Allow the other MCP server to run tool "send_message"?\nmessage: hello', 'tool', 'send_message'],
  [opencodeOperations, 'Allow bash: echo allowed', 'command', 'echo allowed'],
  [opencodeOperations, 'Allow edit: src/a.ts', 'file', 'src/a.ts'],
  [scriptedOperations, 'Run this command?\nrm -r build', 'command', 'rm -r build'],
] as const)('%# what a prompt would do is read from its text', (rules, text, kind, what) => {
  expect(findOperation(rules, text)).toEqual({ kind, what })
})

test('a second line belongs to the command, so that no rule of a profile takes it for the first alone', () => {
  expect(findOperation(claudeOperations, 'Bash command\ngit status\nrm x\nDo you want to proceed?')?.what).toBe(
    'git status\nrm x',
  )
})

test('what says nothing of the kind gives nothing', () => {
  expect(findOperation(opencodeOperations, 'Which colour?')).toBeUndefined()
})
