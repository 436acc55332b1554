/** `GET /health`: open to all, full for those who may ask. */
import { toTime } from '../../protocol/fields.ts'
import type { HealthBody } from '../../protocol/health.ts'
import { protocolVersion, serviceName } from '../../protocol/version.ts'
import type { Router, Services } from '../context.ts'

export function healthRoutes(router: Router, { app, version }: Services): void {
  router.get('/health', (c) => {
    const health = app.health()
    const open: HealthBody = {
      status: 'ok',
      service: serviceName,
      terminal_backend: health.backend.name,
      components: { cao: 'ok', [health.backend.name]: health.backend.state === 'ready' ? 'ok' : 'unavailable' },
      protocol_version: protocolVersion,
      version,
    }
    if (c.get('actor') === undefined) return c.json(open)
    const { name, version: backendVersion, state, details } = health.backend
    return c.json({
      ...open,
      pid: health.pid,
      home: health.home,
      started_at: toTime(health.startedAtMs),
      backend: { name, version: backendVersion, state, details: { ...details } },
      terminals: health.terminals,
      last_recovery: health.lastRecovery ?? null,
      last_event_seq: app.lastEventSeq(),
    } satisfies HealthBody)
  })
}
