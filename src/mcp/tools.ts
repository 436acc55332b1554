/** All tools of an agent. Upstream's names and arguments. */
import type { Tool } from './tool.ts'
import { answerUserPrompt } from './tools/answer-user-prompt.ts'
import { assign } from './tools/assign.ts'
import { deleteTerminal } from './tools/delete-terminal.ts'
import { handoff } from './tools/handoff.ts'
import { sendMessage } from './tools/send-message.ts'

export const tools: readonly Tool[] = [handoff, assign, sendMessage, answerUserPrompt, deleteTerminal]
