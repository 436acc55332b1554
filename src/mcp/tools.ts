/** All tools of an agent. Upstream's names and arguments. */
import type { Tool } from './tool.ts'
import { answerUserPrompt } from './tools/answer-user-prompt.ts'
import { assign } from './tools/assign.ts'
import { deleteTerminal } from './tools/delete-terminal.ts'
import { findProfiles } from './tools/find-profiles.ts'
import { handoff } from './tools/handoff.ts'
import { jobCancel, jobResult, jobStatus, reportResult } from './tools/jobs.ts'
import { listSiblings } from './tools/list-siblings.ts'
import { loadSkill } from './tools/load-skill.ts'
import { sendMessage } from './tools/send-message.ts'
import { sentMessages } from './tools/sent-messages.ts'
import { updateMetadata } from './tools/update-metadata.ts'

export const tools: readonly Tool[] = [
  handoff,
  assign,
  jobStatus,
  jobResult,
  jobCancel,
  reportResult,
  sendMessage,
  sentMessages,
  answerUserPrompt,
  deleteTerminal,
  findProfiles,
  loadSkill,
  listSiblings,
  updateMetadata,
]
