/** What can be asked about skills. */
import { paths } from '../protocol/paths.ts'
import type { SkillBody, SkillSummaryBody } from '../protocol/skill.ts'
import type { CallOptions, Verbs } from './ask.ts'

export function skillCalls({ get }: Verbs) {
  return {
    listSkills: (how?: CallOptions) => get<readonly SkillSummaryBody[]>(paths.skills(), {}, how),
    getSkill: (name: string, how?: CallOptions) => get<SkillBody>(paths.skill(name), {}, how),
  }
}
