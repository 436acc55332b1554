/** `/skills`: instructions that agents load when they need them. */
import { z } from 'zod'
import { skillSchema, skillSummarySchema, toSkillBody, toSkillSummary } from '../../protocol/skill.ts'
import { namePart } from '../path-parts.ts'
import { route } from '../route.ts'

export const skillRoutes = [
  route({
    at: 'GET /skills',
    summary: 'All skills, in short; one with a fault is listed with it',
    access: 'any',
    answer: z.array(skillSummarySchema),
    handle: async ({ app }) => (await app.listSkills()).map(toSkillSummary),
  }),
  route({
    at: 'GET /skills/:name',
    summary: 'The text of one skill',
    isUpstream: true,
    access: 'any',
    errors: ['BAD_REQUEST', 'NOT_FOUND', 'TOO_LARGE'],
    path: { name: namePart },
    answer: skillSchema,
    handle: async ({ app, path }) => toSkillBody(await app.loadSkill(path.name)),
  }),
]
