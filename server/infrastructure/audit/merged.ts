import type { Database } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { type Actor, type Audit, anonymousActor, type Change } from './service.ts';

const MERGE_MS = 60_000;
/** What of one group is told apart by source; further sources are recorded together. */
const MAX_SOURCES_PER_GROUP = 20;
/** What of one kind is told apart at all; past it everything is recorded together. */
const MAX_WATCHED = 1_000;

export type MergedEntry = {
  group: string;
  source: string;
  actor: Actor;
  /** Recorded in each of these Organizations; in none, it is the operator's to read. */
  organizationGuids: readonly string[];
  change: Omit<Change, 'organizationGuid' | 'changes'> & { changes: Record<string, unknown> };
};
type Watched = { entry: MergedEntry; times: number; until: number };

/**
 * Records of what anybody can bring about as often as they like, such as refused calls. The first of a group and source
 * is recorded at once; those that follow within a minute are counted and recorded together, and so are those from ever
 * new sources or groups: a flood of refusals does not become a flood of writes.
 */
export function createMergedRecords({
  database,
  audit,
  clock,
  log,
}: {
  database: Database;
  audit: Audit;
  clock: Clock;
  log: Log;
}) {
  const watched = new Map<string, Watched>();
  const sourcesOf = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();

  function write({ actor, organizationGuids, change }: MergedEntry, times: number): void {
    const owners = organizationGuids.length === 0 ? [undefined] : organizationGuids;
    writing = writing
      .then(() =>
        database.transaction(async (transaction) => {
          for (const organizationGuid of owners)
            await audit.record(transaction, actor, {
              ...{ ...change, organizationGuid },
              changes: { ...change.changes, times },
            });
        }),
      )
      .catch((error: unknown) => log.error({ err: error }, 'could not write an audit record'));
  }

  function watch(key: string, entry: Watched): void {
    watched.set(key, entry);
    sourcesOf.set(entry.entry.group, (sourcesOf.get(entry.entry.group) ?? 0) + 1);
  }

  function release(key: string, { entry, times }: Watched): void {
    watched.delete(key);
    const left = (sourcesOf.get(entry.group) ?? 1) - 1;
    if (left === 0) sourcesOf.delete(entry.group);
    else sourcesOf.set(entry.group, left);
    if (times > 0) write(entry, times);
  }

  /** The entry itself while there is capacity for it, else one that stands for many. */
  function bounded(entry: MergedEntry): MergedEntry {
    const isKnown = watched.has(keyOf(entry));
    if (isKnown || (sourcesOf.get(entry.group) ?? 0) < MAX_SOURCES_PER_GROUP)
      return isKnown || watched.size < MAX_WATCHED ? entry : others(entry);
    const together = { ...entry, source: OTHERS, actor: { ...entry.actor, address: undefined } };
    return watched.has(keyOf(together)) || watched.size < MAX_WATCHED ? together : others(entry);
  }

  return {
    note(noted: MergedEntry): void {
      const entry = bounded(noted);
      const key = keyOf(entry);
      const now = clock.now().getTime();
      const known = watched.get(key);
      if (known && known.until > now) {
        known.times += 1;
        return;
      }
      if (known) release(key, known);
      write(entry, 1);
      watch(key, { entry, times: 0, until: now + MERGE_MS });
    },

    /** Writes what was counted and is due; all of it when the process stops. */
    async flush({ all = false } = {}): Promise<void> {
      const now = clock.now().getTime();
      for (const [key, entry] of watched) if (all || entry.until <= now) release(key, entry);
      await writing;
    },
  };
}

const OTHERS = 'others';

/** One for each action, however many it stands for: it names no Organization, object or address. */
function others({ actor: { requestId }, change }: MergedEntry): MergedEntry {
  return {
    ...{ group: `${OTHERS} ${change.action}`, source: OTHERS, organizationGuids: [] },
    actor: { ...anonymousActor, requestId },
    change: { ...change, objectId: OTHERS },
  };
}

function keyOf({ group, source }: MergedEntry): string {
  return `${group} ${source}`;
}
