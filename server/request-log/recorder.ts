import type { Clients } from '../credentials/applications/clients.ts';
import type { Queries } from '../infrastructure/database/database.ts';
import { failureOfDatabase } from '../infrastructure/database/failures.ts';
import type { Timers } from '../infrastructure/runtime/clock.ts';
import { createDelayedFlush } from '../infrastructure/runtime/delayed-flush.ts';
import type { Log } from '../infrastructure/runtime/log.ts';
import type { Metrics } from '../infrastructure/runtime/metrics.ts';
import type { CallerIdentity } from '../tokens/access/access.ts';
import { createSampling } from './sampling.ts';
import { insertRequests, type LoggedRequest } from './store.ts';

/** Writes the request log in batches, apart from the requests. A crash loses the last second. */
export type RequestRecorder = ReturnType<typeof createRequestRecorder>;

/** A call as the hook saw it. Everything that takes time is done when the batch is written. */
export type RecordedCall = {
  requestId: string;
  identity: CallerIdentity;
  method: string;
  /** The URL of the route, with parameters as `:guid`. */
  route: string;
  /** The guid in the path. */
  objectGuid: string | null;
  status: number;
  messageCode: string | undefined;
  durationMs: number;
  address: string | undefined;
  sampleRate: number;
};

/** Also the window of the sampling. */
const FLUSH_AFTER_MS = 1_000;
const RETRY_AFTER_MS = 5_000;
/** Calls in memory; further ones are dropped while the database is unavailable. */
const MAX_WAITING = 10_000;
/** Of these, calls that name a client_id without a verified token: they must not displace the others. */
const MAX_UNVERIFIED = 1_000;
const MAX_BATCH = 1_000;
/** A longer stream is not logged: the partition of its beginning may be gone. */
const MAX_DURATION_MS = 24 * 3_600_000;
export const FIRST_ERROR_STATUS = 400;

type Deps = { queries: Queries; clients: Pick<Clients, 'find'>; timers: Timers; log: Log; metrics: Metrics };

export function createRequestRecorder({ queries, clients, timers, log, metrics }: Deps) {
  const sampling = createSampling();
  const pathOf = createPathPatterns();
  let waiting: RecordedCall[] = [];
  /** Of the waiting ones. */
  let unverified = 0;
  let sampledOut = 0;

  function countCalls(result: 'written' | 'sampled_out' | 'dropped', calls: number): void {
    if (calls > 0) metrics.requestLogCalls.inc({ result }, calls);
  }

  function isFull(identity: CallerIdentity): boolean {
    return waiting.length >= MAX_WAITING || (isUnverified(identity) && unverified >= MAX_UNVERIFIED);
  }

  async function write(): Promise<void> {
    sampling.reset();
    countCalls('sampled_out', sampledOut);
    sampledOut = 0;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      const unverifiedInBatch = batch.filter(({ identity }) => isUnverified(identity)).length;
      unverified -= unverifiedInBatch;
      try {
        const rows = await toRows(batch);
        if (rows.length > 0) await insertRequests(queries, rows);
        countCalls('written', rows.length);
      } catch (error) {
        if (failureOfDatabase(error)) {
          log.warn({ reason: String(error) }, 'could not write the request log; retrying');
          waiting = [...batch, ...waiting];
          unverified += unverifiedInBatch;
          return flushing.schedule(RETRY_AFTER_MS);
        }
        log.error({ err: error, calls: batch.length }, 'request log rejected by the database');
        countCalls('dropped', batch.length);
      }
    }
  }

  const flushing = createDelayedFlush({ timers, delayMs: FLUSH_AFTER_MS, write });

  /** Without the calls of unknown clients: they belong to no Organization. */
  async function toRows(batch: readonly RecordedCall[]): Promise<LoggedRequest[]> {
    const ids = new Set(
      batch.filter(({ identity }) => isUnverified(identity)).map((call) => call.identity.id),
    );
    const found = await Promise.all([...ids].map((id) => clients.find(id)));
    const byId = new Map(found.map((client) => [client?.client_id, client]));
    return batch.flatMap((call) => {
      const { type, id, environment, ...owner } = call.identity;
      const client = owner.organizationGuid ? undefined : byId.get(id);
      const organizationGuid = owner.organizationGuid ?? client?.organization_guid;
      if (organizationGuid === undefined) return [];
      return {
        guid: call.requestId,
        organization_guid: organizationGuid,
        environment: environment ?? ('both' as const),
        bank_guid: owner.bankGuid ?? client?.bank_guid ?? null,
        token_type: type ?? null,
        client_id: type === 'user' ? null : id,
        member_guid: type === 'user' ? id : null,
        method: call.method,
        path: pathOf(call.route),
        object_guid: call.objectGuid,
        status: call.status,
        message_code: call.messageCode ?? null,
        duration_ms: Math.round(call.durationMs),
        address: call.address ?? null,
        sample_rate: call.sampleRate,
      };
    });
  }

  return {
    /**
     * The `sampleRate` of the call to record; 0 if it is left out. Dropped calls do not count: callers choose the client_id,
     * and a count for each would fill the memory while a write waits for the database.
     */
    sampleRateOf(identity: CallerIdentity, status: number): number {
      if (isFull(identity)) {
        countCalls('dropped', 1);
        return 0;
      }
      const { organizationGuid, id } = identity;
      const rate = sampling.rateOf(organizationGuid ?? id, status >= FIRST_ERROR_STATUS);
      if (rate === 0) sampledOut += 1;
      return rate;
    },

    record(call: RecordedCall): void {
      if (isFull(call.identity)) countCalls('dropped', 1);
      else if (call.durationMs <= MAX_DURATION_MS) {
        waiting.push(call);
        if (isUnverified(call.identity)) unverified += 1;
      }
      flushing.schedule();
    },

    /** `last` is for a shutdown: calls that cannot be written then are lost. */
    async flush({ last = false } = {}): Promise<void> {
      await flushing.flush();
      if (last) flushing.cancel();
    },
  };
}

function isUnverified({ organizationGuid }: CallerIdentity): boolean {
  return organizationGuid === undefined;
}

/** `/api/banks/:guid` as `/api/banks/{guid}`, as in the OpenAPI document. There are as many as routes. */
function createPathPatterns(): (route: string) => string {
  const known = new Map<string, string>();
  return (route) => {
    const path = known.get(route) ?? route.replaceAll(/:(\w+)/g, '{$1}');
    known.set(route, path);
    return path;
  };
}
