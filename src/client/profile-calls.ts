/** What can be asked about profiles. */
import { paths } from '../protocol/paths.ts'
import type { ProfileBody, ProfileSummaryBody } from '../protocol/profile.ts'
import type {
  InstalledBody,
  InstallParams,
  ProfileCheckBody,
  ProfileHitBody,
  RemovedProfileBody,
  SaveParams,
} from '../protocol/profile-store.ts'
import type { TemplateCheckBody, TemplatePreviewBody, TemplateSummaryBody } from '../protocol/profile-templates.ts'
import type { CallOptions, Verbs } from './ask.ts'

export function profileCalls({ get, post, slowPost, slowDelete }: Verbs) {
  return {
    listProfiles: (how?: CallOptions) => get<readonly ProfileSummaryBody[]>(paths.profiles(), {}, how),
    getProfile: (name: string, how?: CallOptions) => get<ProfileBody>(paths.profile(name), {}, how),
    /** Those that suit the words of `q`, the best first. */
    searchProfiles: (q: string, limit?: number, how?: CallOptions) =>
      get<readonly ProfileHitBody[]>(paths.searchProfiles(), { query: { q, limit } }, how),
    /** JSON Schema of the front matter. */
    getProfileSchema: (how?: CallOptions) => get<Readonly<Record<string, unknown>>>(paths.profileSchema(), {}, how),
    listTemplates: (how?: CallOptions) => get<readonly TemplateSummaryBody[]>(paths.profileTemplates(), {}, how),
    getTemplateSchema: (category: string, name: string, how?: CallOptions) =>
      get<Readonly<Record<string, unknown>>>(paths.profileTemplateSchema(category, name), {}, how),
    validateTemplate: (template: string, config: Readonly<Record<string, unknown>>, how?: CallOptions) =>
      post<TemplateCheckBody>(paths.validateTemplate(), { body: { template, config } }, how),
    previewTemplate: (template: string, config: Readonly<Record<string, unknown>>, how?: CallOptions) =>
      post<TemplatePreviewBody>(paths.previewTemplate(), { body: { template, config } }, how),
    validateProfile: (content: string, how?: CallOptions) =>
      post<ProfileCheckBody>(paths.validateProfile(), { body: { content } }, how),
    /** From a name that is known already, or an address. */
    installProfile: (params: InstallParams, how?: CallOptions) =>
      slowPost<InstalledBody>(paths.installProfile(), { body: params }, how),
    /** From its text. */
    saveProfile: (params: SaveParams, how?: CallOptions) =>
      slowPost<InstalledBody>(paths.profiles(), { body: params }, how),
    removeProfile: (name: string, how?: CallOptions) => slowDelete<RemovedProfileBody>(paths.profile(name), {}, how),
  }
}
