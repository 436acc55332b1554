/** What can be asked about settings, in upstream's shapes. */
import { paths } from '../protocol/paths.ts'
import type { AgentDirsBody, MemorySettingsBody, SkillDirsBody } from '../protocol/settings.ts'
import type { CallOptions, Verbs } from './ask.ts'

export function settingsCalls({ get, post }: Verbs) {
  return {
    getAgentDirs: (how?: CallOptions) => get<AgentDirsBody>(paths.agentDirs(), {}, how),
    /** The server sees them at its next start. */
    setAgentDirs: (extra_dirs: readonly string[], how?: CallOptions) =>
      post<AgentDirsBody>(paths.agentDirs(), { body: { extra_dirs } }, how),
    getSkillDirs: (how?: CallOptions) => get<SkillDirsBody>(paths.skillDirs(), {}, how),
    /** The server sees them at its next start. */
    setSkillDirs: (extra_dirs: readonly string[], how?: CallOptions) =>
      post<SkillDirsBody>(paths.skillDirs(), { body: { extra_dirs } }, how),
    getMemorySettings: (how?: CallOptions) => get<MemorySettingsBody>(paths.memorySettings(), {}, how),
  }
}
