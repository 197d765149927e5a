import type pg from 'pg';
import type { Timers } from '../../runtime/clock.ts';
import { isReadOnlyAnswer, READ_ONLY_PROBE } from './read-only.ts';

/**
 * A connection whose peer vanished without a reset (a failover, a lost NAT entry) stays open and silent, and TCP
 * notices after minutes at best. Idle connections get a probe, and a connection without an answer is destroyed: it is
 * never reused, because the state of its transaction is unknown. Silence is counted in checks, not in elapsed time: a
 * blocked event loop must not look like a silent server.
 *
 * A connection to a read-only server is destroyed, too: the old primary may return as a standby while its name still
 * points to it, and a healthy connection to it would be kept for ever.
 */
const CHECK_EVERY_MS = 5_000;
const PROBE_TIMEOUT_MS = 10_000;

/** Fields that pg has beyond its types; `readyForQuery` is false from the first statement sent to its last answer. */
type WatchedClient = pg.ClientBase & {
  readyForQuery?: boolean;
  connection: { stream: { bytesRead: number; writableEnded: boolean; destroy(error: Error): unknown } };
  getTransactionStatus(): 'I' | 'T' | 'E' | null;
};

type Entry = { client: WatchedClient; bytesRead: number; silentChecks: number; isProbed: boolean };

/** Have the code of a network error, so that every caller treats them as a lost connection. */
class SilentConnectionError extends Error {
  readonly code = 'ETIMEDOUT';
}

class ReadOnlyServerError extends Error {
  readonly code = 'ECONNABORTED';
}

/** `answerTimeoutMs` must exceed the server's statement timeout. */
export function createConnectionWatch({
  timers,
  answerTimeoutMs,
}: {
  timers: Timers;
  answerTimeoutMs: number;
}) {
  const entries = new Map<pg.ClientBase, Entry>();
  let cancel: (() => void) | undefined;

  function checkLater(): void {
    cancel = timers.after(CHECK_EVERY_MS, () => {
      checkLater();
      for (const entry of entries.values()) check(entry);
    });
  }

  function check(entry: Entry): void {
    const { client } = entry;
    const { stream } = client.connection;
    const owesAnswer = client.readyForQuery === false || stream.writableEnded;
    const isSilent = owesAnswer && stream.bytesRead === entry.bytesRead;
    entry.bytesRead = stream.bytesRead;
    entry.silentChecks = isSilent ? entry.silentChecks + 1 : 0;
    if (!isSilent) entry.isProbed = false;
    if (!owesAnswer) probe(entry);
    else if (isSilent) destroyLate(entry);
  }

  function destroyLate({ client, silentChecks, isProbed }: Entry): void {
    const { stream } = client.connection;
    const timeoutMs = isProbed || stream.writableEnded ? PROBE_TIMEOUT_MS : answerTimeoutMs;
    if (silentChecks * CHECK_EVERY_MS < timeoutMs) return;
    stream.destroy(new SilentConnectionError(`no answer within ${timeoutMs} ms`));
  }

  /** Not inside a transaction: a probe must not run between its statements. */
  function probe(entry: Entry): void {
    if (entry.client.getTransactionStatus() !== 'I') return;
    entry.isProbed = true;
    entry.client.query(READ_ONLY_PROBE).then(
      (answer) => {
        if (isReadOnlyAnswer(answer))
          entry.client.connection.stream.destroy(new ReadOnlyServerError('the database server is read-only'));
      },
      () => undefined,
    );
  }

  return {
    add(client: pg.ClientBase): void {
      const watched = client as WatchedClient;
      entries.set(client, {
        client: watched,
        bytesRead: watched.connection.stream.bytesRead,
        silentChecks: 0,
        isProbed: false,
      });
      if (!cancel) checkLater();
    },

    remove(client: pg.ClientBase): void {
      entries.delete(client);
      if (entries.size > 0) return;
      cancel?.();
      cancel = undefined;
    },

    /** For a shutdown that has reached its time limit. */
    destroyAll(): void {
      for (const { client } of entries.values())
        client.connection.stream.destroy(new SilentConnectionError('closed without waiting for an answer'));
    },
  };
}
