import { Readable } from 'node:stream';
import type { EnvironmentName } from '../../../infrastructure/database/tables.ts';
import { hasPassed } from '../../../infrastructure/runtime/clock.ts';
import { HEARTBEAT_EVERY_MS, RECONNECT_AFTER_MS } from '../../streams.ts';
import { formatPosition, type Horizon, isOfDatabase, type Position, withoutSnapshots } from './position.ts';
import { viewStreamedEvent } from './stream-schema.ts';
import type { StreamedEvent, StreamPage } from './stream-store.ts';

export type EventStream = ReturnType<typeof createEventStream>;

export type StreamRequest = {
  organizationGuid: string;
  environments: readonly EnvironmentName[];
  /** Event types; all without it. */
  types: ReadonlySet<string> | undefined;
  /** Whether the token is still valid. */
  isAllowed(): boolean | Promise<boolean>;
};

type Deps = {
  nowMs(): number;
  latest(): Horizon;
  read(page: StreamPage): Promise<StreamedEvent[]>;
  onFailure(error: unknown): void;
  /** A page with fewer rows is the last one. */
  pageSize: number;
};

/** A reader that takes nothing for this time is disconnected, and resumes from its position. */
const MAX_BLOCKED_MS = 30_000;
const MAX_BUFFERED_BYTES = 64 * 1024;
/** A failed read or token check is repeated after the next poll; after so many, the client has to reconnect. */
const MAX_FAILURES = 5;

/**
 * One connection's server-sent events. Pages are read when the client has taken the one
 * before, so that a slow client costs no memory. Each `id` is the position after its message.
 */
export function createEventStream(request: StreamRequest, start: Position, deps: Deps) {
  const { nowMs, latest, read, onFailure, pageSize } = deps;
  let position = isOfDatabase(start, latest().database) ? start : withoutSnapshots(start);
  /** The position is the end of what this horizon shows. */
  let caughtUpWith: Horizon | undefined = position.from === latest() ? latest() : undefined;
  let sentAt = nowMs();
  let blockedSince: number | undefined;
  let ended = false;
  let wake = () => {};
  let resume = () => {};

  const stream = new Readable({
    highWaterMark: MAX_BUFFERED_BYTES,
    read: () => resume(),
    destroy(error, done) {
      ended = true;
      wake();
      resume();
      done(error);
    },
  });

  async function run(): Promise<void> {
    await send(`retry: ${RECONNECT_AFTER_MS}\n${idLine()}\n`);
    for (let failures = 0; !ended; )
      try {
        if (!(await request.isAllowed())) break;
        if (caughtUpWith !== latest()) await send(await nextPage());
        else if (hasPassed(HEARTBEAT_EVERY_MS, sentAt, nowMs())) await send(`:\n${idLine()}\n`);
        else await nextPoll();
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures > MAX_FAILURES) throw error;
        onFailure(error);
        await nextPoll();
      }
    stream.push(null);
  }

  async function nextPoll(): Promise<void> {
    if (ended) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }

  async function send(text: string): Promise<void> {
    if (text === '' || ended) return;
    sentAt = nowMs();
    if (stream.push(text)) return;
    blockedSince = nowMs();
    await new Promise<void>((resolve) => {
      resume = resolve;
    });
    blockedSince = undefined;
  }

  const idLine = () => `id: ${formatPosition(position)}\n`;

  async function nextPage(): Promise<string> {
    const { organizationGuid, environments, types } = request;
    const { from, page } = position;
    const to = page?.to ?? latest();
    const rows = await read({ organizationGuid, environments, from, to, after: page?.after });
    // The database was replaced while it was read.
    if (!isOfDatabase({ from: to }, latest().database)) {
      position = withoutSnapshots(position);
      return '';
    }
    const isLast = rows.length < pageSize;
    let text = '';
    for (const [index, row] of rows.entries()) {
      const isEnd = isLast && index === rows.length - 1;
      position = isEnd ? { from: to } : { from, page: { to, after: row.position } };
      if (!types || types.has(row.event_type))
        text += `${idLine()}data: ${JSON.stringify(viewStreamedEvent(row))}\n\n`;
    }
    if (isLast) {
      position = { from: to };
      caughtUpWith = to;
    }
    // Events of other types move the position too.
    return text === '' && rows.length > 0 ? `${idLine()}\n` : text;
  }

  run().catch((error) => stream.destroy(error));

  return {
    stream,
    ...request,

    /** After a poll: `isChanged` if the tenant has events between the horizons. */
    advance(before: Horizon | undefined, isChanged: boolean): void {
      if (caughtUpWith && caughtUpWith === before && !isChanged) {
        caughtUpWith = latest();
        position = { from: caughtUpWith };
      }
      if (!isOfDatabase(position, latest().database)) {
        caughtUpWith = undefined;
        position = withoutSnapshots(position);
      }
      if (blockedSince !== undefined && nowMs() - blockedSince >= MAX_BLOCKED_MS) stream.destroy();
      wake();
    },

    /** A client that is behind is aborted: a regular end would wait until it has read everything. */
    end(): void {
      ended = true;
      if (blockedSince !== undefined) stream.destroy();
      wake();
    },
  };
}
