/** `/agents/profiles/templates`: profiles to begin with. Nothing here is kept. */
import { z } from 'zod'
import {
  checkTemplate,
  describeTemplate,
  listTemplates,
  renderTemplate,
  templateCheckSchema,
  templateParams,
  templatePreviewSchema,
  templateSummarySchema,
} from '../../protocol/profile-templates.ts'
import { namePart } from '../path-parts.ts'
import { route } from '../route.ts'

export const profileTemplateRoutes = [
  route({
    at: 'GET /agents/profiles/templates',
    summary: 'The templates that a profile can be made from',
    isUpstream: true,
    access: 'any',
    answer: z.array(templateSummarySchema),
    handle: () => [...listTemplates()],
  }),
  route({
    at: 'GET /agents/profiles/templates/:category/:name/schema',
    summary: 'What a template asks for, as JSON Schema',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND'],
    path: { category: namePart, name: namePart },
    answer: z.looseObject({}),
    handle: ({ path }) => describeTemplate(`${path.category}/${path.name}`),
  }),
  route({
    at: 'POST /agents/profiles/templates/validate',
    summary: 'What is wrong with the answers for a template',
    isUpstream: true,
    access: 'any',
    errors: ['NOT_FOUND'],
    params: templateParams,
    answer: templateCheckSchema,
    handle: ({ params }) => {
      const errors = [...checkTemplate(params.template, params.config)]
      return { valid: errors.length === 0, errors }
    },
  }),
  route({
    at: 'POST /agents/profiles/templates/preview',
    summary: 'The text of the profile that a template makes of the answers',
    isUpstream: true,
    access: 'any',
    errors: ['BAD_REQUEST', 'NOT_FOUND'],
    params: templateParams,
    answer: templatePreviewSchema,
    handle: ({ params }) => ({ template: params.template, content: renderTemplate(params.template, params.config) }),
  }),
]
