import type { Readable } from 'node:stream';
import type { Database } from '../../../infrastructure/database/database.ts';
import { failureOfDatabase } from '../../../infrastructure/database/failures.ts';
import type { Clock, Timers } from '../../../infrastructure/runtime/clock.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Metrics } from '../../../infrastructure/runtime/metrics.ts';
import { refusalOfStream } from '../../streams.ts';
import { createEventStream, type EventStream, type StreamRequest } from './event-stream.ts';
import { createFloor } from './floor.ts';
import { createPageReads } from './page-reads.ts';
import type { Horizon, Position } from './position.ts';
import { selectSnapshot, selectStreamPage, type Tenant } from './stream-store.ts';

export type EventStreams = ReturnType<typeof createEventStreams>;

const POLL_EVERY_MS = 250;
const PAGE_SIZE = 500;
const SNAPSHOT_TRIES = 3;
const OPEN_AGAIN_SECONDS = 1;

type Deps = { database: Database; clock: Clock; timers: Timers; metrics: Metrics; log: Log };

/** The event streams of this process. One query finds out which of them have something to read; without streams none is sent. */
export function createEventStreams({ database, clock, timers, metrics, log }: Deps) {
  const streams = new Set<EventStream>();
  /** Requests that wait for their first snapshot. They count, so that concurrent ones cannot exceed a limit. */
  const opening = new Set<StreamRequest>();
  const read = createPageReads((page) => selectStreamPage(database.lists, page, PAGE_SIZE));
  const floor = createFloor();
  let latest: Horizon | undefined;
  let polling: Promise<void> | undefined;
  let cancel: (() => void) | undefined;
  let closed = false;

  const nowMs = () => clock.now().getTime();

  const refusal = (organizationGuid: string) =>
    refusalOfStream('Event stream', organizationGuid, { open: [...streams, ...opening], isClosed: closed });

  function tenants(): Tenant[] {
    const byName = new Map<string, Tenant>();
    for (const { organizationGuid, environments } of streams)
      for (const environment of environments)
        byName.set(`${organizationGuid}${environment}`, { organizationGuid, environment });
    return [...byName.values()];
  }

  async function takeSnapshot(): Promise<void> {
    const before = latest;
    const atMs = nowMs();
    const { snapshot, database: name, changed } = await selectSnapshot(database.lists, tenants(), before);
    if (before && before.database !== name) floor.forget();
    latest = { snapshot, floorMs: floor.of(snapshot, atMs), database: name };
    const changedOnes = new Set(changed.map((tenant) => `${tenant.organizationGuid}${tenant.environment}`));
    for (const stream of streams)
      stream.advance(
        before,
        stream.environments.some((name) => changedOnes.has(`${stream.organizationGuid}${name}`)),
      );
  }

  function poll(): Promise<void> {
    polling ??= takeSnapshot().finally(() => {
      polling = undefined;
    });
    return polling;
  }

  function pollLater(): void {
    cancel ??= timers.after(POLL_EVERY_MS, () => {
      cancel = undefined;
      if (streams.size === 0 || closed) return;
      pollLater();
      poll().catch((error: unknown) => {
        log.warn({ reason: String(error) }, 'could not poll for streamed events');
        // Tokens are checked and heartbeats sent during an outage too.
        for (const stream of streams) stream.advance(undefined, false);
      });
    });
  }

  const warn = (error: unknown) => log.warn({ reason: String(error) }, 'could not read streamed events');

  function add(stream: EventStream): void {
    streams.add(stream);
    metrics.eventStreams.set(streams.size);
    stream.stream.once('error', warn);
    stream.stream.once('close', () => {
      streams.delete(stream);
      metrics.eventStreams.set(streams.size);
    });
    pollLater();
  }

  /** A snapshot that begins now. A poll under way may have begun before events that the caller has seen already. */
  async function firstSnapshot(): Promise<Failure | undefined> {
    for (let tries = 1; ; tries += 1) {
      await polling?.catch(() => undefined);
      try {
        await poll();
        return undefined;
      } catch (error) {
        const failure = failureOfDatabase(error);
        if (!failure) throw error;
        warn(error);
        // The message of the failure may be about a list.
        if (tries === SNAPSHOT_TRIES)
          return new Failure(failure.code, 'The event stream could not be opened; try again later', {
            retryAfterSeconds: OPEN_AGAIN_SECONDS,
          });
      }
    }
  }

  return {
    /** From a position, or from now on. */
    async open(request: StreamRequest, start: Position | undefined): Promise<Readable | Failure> {
      const refused = refusal(request.organizationGuid);
      if (refused) return refused;
      opening.add(request);
      const failure = await firstSnapshot().finally(() => opening.delete(request));
      if (failure) return failure;
      const from = latest as Horizon;
      const deps = { nowMs, latest: () => latest as Horizon, read, onFailure: warn, pageSize: PAGE_SIZE };
      const stream = createEventStream(request, start ?? { from }, deps);
      add(stream);
      if (closed) stream.end();
      return stream.stream;
    },

    /** Ends every stream, because open streams would delay the shutdown of the server. */
    stop(): void {
      closed = true;
      cancel?.();
      for (const stream of streams) stream.end();
    },
  };
}
