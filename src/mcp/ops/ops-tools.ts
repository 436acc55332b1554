/** All tools of an agent outside CAO. Upstream's names and arguments, and `answer_user_prompt`, without which a team that asks stands still. */
import type { Tool } from '../tool.ts'
import type { OpsContext } from './ops-tool.ts'
import { getProfileDetails, installProfile, listProfiles } from './profiles.ts'
import { getSessionInfo, launchSession, listSessions, shutdownSession } from './sessions.ts'
import {
  answerPrompt,
  getTerminalOutput,
  getTerminalStatus,
  readSessionOutput,
  sendSessionMessage,
} from './terminals.ts'

export const opsTools: readonly Tool<OpsContext>[] = [
  listProfiles,
  getProfileDetails,
  installProfile,
  launchSession,
  sendSessionMessage,
  getTerminalStatus,
  getTerminalOutput,
  readSessionOutput,
  listSessions,
  getSessionInfo,
  shutdownSession,
  answerPrompt,
]
