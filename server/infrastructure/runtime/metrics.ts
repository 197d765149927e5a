import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

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
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const readers: (() => Promise<void>)[] = [];
  return {
    /** Everything in the format of Prometheus, after those who wanted to set something first have done so. */
    async read(): Promise<string> {
      // What cannot be told now keeps its last value: the metrics are most needed when something is wrong.
      await Promise.allSettled(readers.map((reader) => reader()));
      return registry.metrics();
    },
    contentType: registry.contentType,
    onRead(reader: () => Promise<void>): void {
      readers.push(reader);
    },
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
    logins: new Counter({
      name: 'portico_logins_total',
      help: 'Logins to the dashboard, by how and by what came of them.',
      labelNames: ['method', 'result'] as const,
      registers,
    }),
    eventsPublished: new Counter({
      name: 'portico_events_published_total',
      help: 'Events accepted: written with the change that caused them, and their deliveries with them.',
      labelNames: ['event_type'] as const,
      registers,
    }),
    attempts: new Counter({
      name: 'portico_delivery_attempts_total',
      help: 'Attempts to deliver an event, by what came of them.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    deliveries: new Counter({
      name: 'portico_deliveries_total',
      help: 'Deliveries that ended, completed or failed.',
      labelNames: ['state'] as const,
      registers,
    }),
    deliverySeconds: new Histogram({
      name: 'portico_delivery_seconds',
      help: 'Time from the acceptance of an event to the 2xx of an endpoint, retries included.',
      buckets: [...SECONDS_BUCKETS, 60, 600, 3_600, 86_400],
      registers,
    }),
    deliveriesInFlight: gauge(
      'portico_deliveries_in_flight',
      'Requests to endpoints under way in this process.',
    ),
    deliveriesHeld: gauge('portico_deliveries_held', 'Deliveries in the memory of this process.'),
    lanesLimited: gauge(
      'portico_lanes_limited',
      'Failing endpoints that this process sends one request at a time.',
    ),
    liveViewers: gauge('portico_live_viewers', 'Live streams of deliveries open in this process.'),
    liveWatched: gauge(
      'portico_live_watched',
      'Organizations whose deliveries this process tells of, because somebody watches.',
    ),
    deliveriesWaiting: gauge(
      'portico_deliveries_waiting',
      'Deliveries that wait in the database, the same from every process.',
    ),
    files: new Counter({
      name: 'portico_files_total',
      help: 'Files that ended in this process, completed or failed.',
      labelNames: ['state'] as const,
      registers,
    }),
    fileSeconds: new Histogram({
      name: 'portico_file_processing_seconds',
      help: 'Time from the arrival of the content of a file to its end.',
      buckets: [...SECONDS_BUCKETS, 60, 600, 3_600],
      registers,
    }),
    filesWaiting: gauge(
      'portico_files_waiting',
      'Files whose content is there and not yet looked at, the same from every process.',
    ),
    oldestWaitingSeconds: gauge(
      'portico_oldest_waiting_seconds',
      'For how long the first of the waiting deliveries has been due, the same from every process.',
    ),
  };
}
