import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/**
 * Every metric of the service, made in one place so that names and labels stay few.
 * No label ever names a tenant: `/metrics` is readable without a token.
 */
export type Metrics = ReturnType<typeof createMetrics>;

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    requestSeconds: new Histogram({
      name: 'portico_http_request_seconds',
      help: 'Time from the first byte of a request to the last byte of its answer.',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    operatorRejections: new Counter({
      name: 'portico_operator_rejections_total',
      help: 'Calls to the operator surface refused for a wrong token or for too many of them.',
      labelNames: ['reason'] as const,
      registers,
    }),
    deniedCalls: new Counter({
      name: 'portico_denied_calls_total',
      help: 'Calls refused because their source address is not in the allowlist of their token.',
      registers,
    }),
    tokensIssued: new Counter({
      name: 'portico_tokens_issued_total',
      help: 'Access tokens issued.',
      labelNames: ['token_type'] as const,
      registers,
    }),
    eventsPublished: new Counter({
      name: 'portico_events_published_total',
      help: 'Events written to the outbox.',
      labelNames: ['event_type'] as const,
      registers,
    }),
  };
}
