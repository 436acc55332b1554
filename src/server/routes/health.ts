/** `GET /health`: open to all, full for those who may ask. */
import { toTime } from '../../protocol/fields.ts'
import { type HealthBody, healthSchema } from '../../protocol/health.ts'
import { protocolVersion, serviceName } from '../../protocol/version.ts'
import { route } from '../route.ts'

export const healthRoutes = [
  route({
    at: 'GET /health',
    summary: 'Whether the server lives; more for those who may ask',
    isUpstream: true,
    access: 'open',
    answer: healthSchema,
    handle: ({ c, app, services: { version } }) => {
      const health = app.health()
      const open: HealthBody = {
        status: 'ok',
        service: serviceName,
        terminal_backend: health.backend.name,
        components: { cao: 'ok', [health.backend.name]: health.backend.state === 'ready' ? 'ok' : 'unavailable' },
        protocol_version: protocolVersion,
        version,
      }
      if (c.get('actor') === undefined) return open
      const { name, version: backendVersion, state, details } = health.backend
      return {
        ...open,
        pid: health.pid,
        home: health.home,
        started_at: toTime(health.startedAtMs),
        backend: { name, version: backendVersion, state, details: { ...details } },
        terminals: health.terminals,
        last_recovery: health.lastRecovery ?? null,
        last_event_seq: app.lastEventSeq(),
      }
    },
  }),
]
