import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Queries } from '../../infrastructure/database/database.ts';
import { createBatcher } from '../../infrastructure/runtime/batcher.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { selectFrozenGuids } from './store.ts';

/**
 * Organizations that are frozen for their move to another database. Every node keeps their guids in memory, under the
 * lease of its revocations, so that a call costs no query.
 */
export type Freezes = ReturnType<typeof createFreezes>;

type Deps = {
  database: Database;
  log: Log;
  changes: { isUpToDate(): boolean; onFreeze(listener: () => Promise<void>): void };
};

const RETRY_AFTER_SECONDS = 5;
/** Shorter than a node trusts its revocations without a renewal, which waits for it. */
const DRAIN_WITHIN_MS = 3_000;
const MAX_CHECKS_TOGETHER = 10_000;

export function createFreezes({ database, log, changes }: Deps) {
  const queries = database.reserved;
  const listeners: ((organizationGuid: string) => Promise<unknown>)[] = [];
  let frozen: ReadonlySet<string> = new Set();

  changes.onFreeze(async () => {
    const before = frozen;
    frozen = new Set(await selectFrozenGuids(queries));
    await Promise.all([...frozen.difference(before)].map(drain));
  });

  /** Lets calls that were admitted before end, and writes what this node holds in memory. */
  async function drain(organizationGuid: string): Promise<void> {
    const drained = Promise.all(listeners.map((listener) => listener(organizationGuid)));
    const limit = new AbortController();
    try {
      await Promise.race([drained, pause(DRAIN_WITHIN_MS, undefined, { signal: limit.signal, ref: false })]);
    } catch (error) {
      log.warn({ err: error, organization_guid: organizationGuid }, 'could not drain a frozen Organization');
    } finally {
      limit.abort();
    }
  }

  /** Concurrent checks share a query: all open streams check at once. */
  const readTogether = createBatcher<undefined, ReadonlySet<string>>({
    async run(checks) {
      const guids = new Set(await selectFrozenGuids(queries));
      return checks.map(() => guids);
    },
    maxBatch: MAX_CHECKS_TOGETHER,
  });

  function current(within: Queries): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    if (changes.isUpToDate()) return frozen;
    if (within === queries) return readTogether(undefined);
    return selectFrozenGuids(within).then((guids) => new Set(guids));
  }

  return {
    /** Awaited, with a limit, before the node confirms that it refuses the calls of an Organization. */
    onFrozen(listener: (organizationGuid: string) => Promise<unknown>): void {
      listeners.push(listener);
    },

    /**
     * Synchronous while this node hears of every change, otherwise from the database. A change passes its transaction:
     * a freeze waits for transactions that began before it, but not for nodes that have lost the database.
     */
    check(
      organizationGuid: string,
      within: Queries = queries,
    ): Failure | undefined | Promise<Failure | undefined> {
      const known = current(within);
      if (known instanceof Promise) return known.then((guids) => refusalIn(guids, organizationGuid));
      return refusalIn(known, organizationGuid);
    },

    /** All that `check` refuses. */
    all: async (within: Queries = queries): Promise<ReadonlySet<string>> => current(within),

    /** The same for many, with one query at most. */
    async among(
      organizationGuids: ReadonlySet<string>,
      within: Queries = queries,
    ): Promise<ReadonlyMap<string, Failure>> {
      const guids = await current(within);
      return new Map(
        organizationGuids
          .intersection(guids)
          .values()
          .map((guid) => [guid, refusal()]),
      );
    },
  };
}

function refusalIn(frozen: ReadonlySet<string>, organizationGuid: string): Failure | undefined {
  return frozen.has(organizationGuid) ? refusal() : undefined;
}

export function refusal(): Failure {
  return new Failure(
    'organization_moving',
    'This Organization is being moved and nothing was changed; try again in a few seconds',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
