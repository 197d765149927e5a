import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { systemTimers, type Timers } from './clock.ts';

/**
 * All metrics in one place, so that names and labels stay few. No label contains a tenant: `/metrics` is readable
 * without a token.
 */
export type Metrics = ReturnType<typeof createMetrics>;

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Well below the time that Prometheus waits, 10 seconds by default: a database may take longer. */
const READ_WITHIN_MS = 2_000;

type Options = { ofProcess?: boolean | undefined; timers?: Timers | undefined };

/** `ofProcess` measures the process until it ends, so a process has it once. */
export function createMetrics({ ofProcess = false, timers = systemTimers }: Options = {}) {
  const registry = new Registry();
  if (ofProcess) collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const readers: (() => Promise<void>)[] = [];
  return {
    /** All metrics in the Prometheus format, after the registered readers have updated theirs. */
    async read(): Promise<string> {
      // A reader that fails or is late keeps its last value: the metrics are most needed during an outage.
      const late = Promise.withResolvers<void>();
      const cancel = timers.after(READ_WITHIN_MS, late.resolve);
      await Promise.race([Promise.allSettled(readers.map((reader) => reader())), late.promise]);
      cancel();
      return registry.metrics();
    },
    contentType: registry.contentType,
    onRead(reader: () => Promise<void>): void {
      readers.push(reader);
    },
    requestSeconds: new Histogram({
      name: 'portico_http_request_seconds',
      help: 'Time from the first byte of a request to the last byte of its response.',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    bodyBytesInFlight: gauge(
      'portico_body_bytes_in_flight',
      'Bytes of request bodies in the memory of this process.',
    ),
    requestLogCalls: counter(
      'portico_request_log_calls_total',
      'Calls for the request log: written, sampled_out above the rate of complete logging, or dropped.',
      ['result'],
    ),
    operatorRejections: counter(
      'portico_operator_rejections_total',
      'Calls to the operator API rejected for a wrong token or by the rate limit.',
      ['reason'],
    ),
    deniedCalls: counter(
      'portico_denied_calls_total',
      'Calls rejected because their source address is not in the allowlist of their token.',
    ),
    tokensIssued: counter('portico_tokens_issued_total', 'Access tokens issued.', ['token_type']),
    logins: counter('portico_logins_total', 'Logins to the dashboard, by method and outcome.', [
      'method',
      'result',
    ]),
    eventsPublished: counter(
      'portico_events_published_total',
      'Events accepted and stored, together with their deliveries.',
      ['event_type'],
    ),
    attempts: counter('portico_delivery_attempts_total', 'Attempts to deliver an event, by outcome.', [
      'outcome',
    ]),
    deliveries: counter(
      'portico_deliveries_total',
      'Deliveries that reached a final state, completed or failed.',
      ['state'],
    ),
    deliverySeconds: new Histogram({
      name: 'portico_delivery_seconds',
      help: 'Time from the acceptance of an event to the 2xx of an endpoint, including retries.',
      buckets: [...SECONDS_BUCKETS, 60, 600, 3_600, 86_400],
      registers,
    }),
    deliveriesInFlight: gauge(
      'portico_deliveries_in_flight',
      'Requests to endpoints in flight in this process.',
    ),
    deliveriesHeld: gauge('portico_deliveries_held', 'Deliveries in the memory of this process.'),
    lanesLimited: gauge(
      'portico_lanes_limited',
      'Failing endpoints that this process limits to one request at a time.',
    ),
    liveViewers: gauge('portico_live_viewers', 'Open live streams of deliveries in this process.'),
    liveWatched: gauge(
      'portico_live_watched',
      'Organizations with an open live stream on any node, as far as this process knows.',
    ),
    eventStreams: gauge('portico_event_streams', 'Open event streams in this process.'),
    deliveriesWaiting: gauge(
      'portico_deliveries_waiting',
      'Deliveries waiting in the database; every process reports the same value.',
    ),
    alertNotices: counter(
      'portico_alert_notices_total',
      'Emails and Slack messages about alerts, by channel and result: sent, failed (retried) or given_up.',
      ['channel', 'result'],
    ),
    files: counter(
      'portico_files_total',
      'Files that reached a final state in this process, completed or failed.',
      ['state'],
    ),
    fileSeconds: new Histogram({
      name: 'portico_file_processing_seconds',
      help: 'Time from the upload of a file to its final state.',
      buckets: [...SECONDS_BUCKETS, 60, 600, 3_600],
      registers,
    }),
    filesWaiting: gauge(
      'portico_files_waiting',
      'Uploaded files waiting for processing; every process reports the same value.',
    ),
    oldestWaitingSeconds: gauge(
      'portico_oldest_waiting_seconds',
      'Time since the oldest waiting delivery became due; every process reports the same value.',
    ),
  };
}
