import type { Database } from '../database/database.ts';
import { type Clock, hasPassed } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { type Actor, type Audit, anonymousActor, type Change } from './service.ts';

const MERGE_MS = 60_000;
/** Sources of one group with a record each; further sources share one. */
const MAX_SOURCES_PER_GROUP = 20;
/** Groups and sources with a record each; beyond this limit everything shares one. */
const MAX_WATCHED = 1_000;

export type MergedEntry = {
  group: string;
  source: string;
  actor: Actor;
  /** Recorded in each of these Organizations; without any, only the operator can read it. */
  organizationGuids: readonly string[];
  change: Omit<Change, 'organizationGuid' | 'changes'> & { changes: Record<string, unknown> };
};
type Watched = { entry: MergedEntry; times: number; since: number };

/**
 * Records of events that any caller can cause at any rate, such as rejected calls. The first event of a group and
 * source is recorded at once, and later ones within a minute are counted and recorded together. New sources and groups
 * are limited too, so that a flood of rejections does not become a flood of writes.
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

  function write(entry: MergedEntry, times: number): void {
    const { actor, organizationGuids, change } = entry;
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
      .catch((error: unknown) => {
        log.warn({ err: error }, 'could not write an audit record; its count will be written later');
        keep(entry, times);
      });
  }

  /** For a later flush. After a commit of unknown fate it may be counted twice, which is better than not at all. */
  function keep(unwritten: MergedEntry, times: number): void {
    const entry = bounded(unwritten);
    const known = watched.get(keyOf(entry));
    if (known) known.times += times;
    else watch(keyOf(entry), { entry, times, since: clock.now().getTime() });
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

  /** The entry itself within the limits, otherwise one that represents several. */
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
      if (known && !hasPassed(MERGE_MS, known.since, now)) {
        known.times += 1;
        return;
      }
      if (known) release(key, known);
      write(entry, 1);
      watch(key, { entry, times: 0, since: now });
    },

    /** Writes the counts that are due; all of them with `all`, at shutdown. */
    async flush({ all = false } = {}): Promise<void> {
      const now = clock.now().getTime();
      for (const [key, entry] of watched)
        if (all || hasPassed(MERGE_MS, entry.since, now)) release(key, entry);
      await writing;
    },
  };
}

const OTHERS = 'others';

/** One per action; it names no Organization, object or address. */
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
