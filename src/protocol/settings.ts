/** What of the settings upstream's clients ask for: folders of profiles and of skills, and whether there is a memory. */
import { z } from 'zod'
import { pathLengthMax } from './fields.ts'

const foldersMax = 64
const foldersField = z.array(z.string().min(1).max(pathLengthMax)).max(foldersMax)

export const agentDirsSchema = z
  .object({
    /** Folders of the CLIs themselves: none of ours. */
    agent_dirs: z.record(z.string(), z.string()),
    extra_dirs: z.array(z.string()),
    disabled_dirs: z.array(z.string()),
  })
  .meta({ id: 'AgentDirs' })

export const skillDirsSchema = z
  .object({ skills_dir: z.string(), extra_dirs: z.array(z.string()) })
  .meta({ id: 'SkillDirs' })

export const dirsBody = z.object({ extra_dirs: foldersField })

export const memorySettingsSchema = z
  .object({ enabled: z.boolean(), learning_enabled: z.boolean() })
  .meta({ id: 'MemorySettings' })

export type AgentDirsBody = z.infer<typeof agentDirsSchema>
export type SkillDirsBody = z.infer<typeof skillDirsSchema>
export type MemorySettingsBody = z.infer<typeof memorySettingsSchema>
