/** `/settings`: what upstream's clients ask of the settings. All options: `cao config`. */
import type { App } from '../../app/app.ts'
import type { OptionName } from '../../protocol/options.ts'
import { agentDirsSchema, dirsBody, memorySettingsSchema, skillDirsSchema } from '../../protocol/settings.ts'
import { route } from '../route.ts'

type DirsOption = Extract<OptionName, 'agents.extra_dirs' | 'skills.extra_dirs'>
const dirsOf = async (app: App, name: DirsOption) => [...((await app.readSetting(name)) as readonly string[])]
const agentDirs = async (app: App) => ({
  agent_dirs: {},
  extra_dirs: await dirsOf(app, 'agents.extra_dirs'),
  disabled_dirs: [],
})
const skillDirs = async (app: App) => ({
  skills_dir: app.skillsDir(),
  extra_dirs: await dirsOf(app, 'skills.extra_dirs'),
})
const description = 'Written into settings.json; the server sees it at its next start.'

export const settingsRoutes = [
  route({
    at: 'GET /settings/agent-dirs',
    summary: 'More folders of profiles, as settings.json has them',
    isUpstream: true,
    access: 'any',
    answer: agentDirsSchema,
    handle: ({ app }) => agentDirs(app),
  }),
  route({
    at: 'POST /settings/agent-dirs',
    summary: 'Sets more folders of profiles',
    description,
    isUpstream: true,
    access: 'person',
    errors: ['BAD_REQUEST'],
    params: dirsBody,
    answer: agentDirsSchema,
    handle: async ({ app, params }) => {
      await app.writeSetting('agents.extra_dirs', params.extra_dirs)
      return agentDirs(app)
    },
  }),
  route({
    at: 'GET /settings/skill-dirs',
    summary: 'More folders of skills, as settings.json has them',
    isUpstream: true,
    access: 'any',
    answer: skillDirsSchema,
    handle: ({ app }) => skillDirs(app),
  }),
  route({
    at: 'POST /settings/skill-dirs',
    summary: 'Sets more folders of skills',
    description,
    isUpstream: true,
    access: 'person',
    errors: ['BAD_REQUEST'],
    params: dirsBody,
    answer: skillDirsSchema,
    handle: async ({ app, params }) => {
      await app.writeSetting('skills.extra_dirs', params.extra_dirs)
      return skillDirs(app)
    },
  }),
  route({
    at: 'GET /settings/memory',
    summary: 'Whether agents have a memory: not yet',
    isUpstream: true,
    access: 'any',
    answer: memorySettingsSchema,
    handle: () => ({ enabled: false, learning_enabled: false }),
  }),
]
