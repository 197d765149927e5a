import type { Database } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import type { Delivery } from '../delivery.ts';
import { named, requeueBatches } from './batch-store.ts';
import type { Lanes } from './lanes/lanes.ts';
import type { Lease } from './lease.ts';
import { releaseDeliveries } from './queue-store.ts';

export type Releases = ReturnType<typeof createReleases>;

type Release = { holder: string; deliveries: readonly Delivery[] };

type Deps = {
  database: Database;
  lanes(): Pick<Lanes, 'heldGuidsOf'>;
  lease: Pick<Lease, 'lastHolder'>;
  onReleased(): void;
};

/** Returns leased deliveries to the queue. */
export function createReleases({ database, lanes, lease, onReleased }: Deps) {
  let gathered: readonly Delivery[] = [];
  const pending = new Set<Release>();
  const running = new Set<Promise<void>>();
  const failed: Release[] = [];

  /**
   * Not those that a lane holds: a release whose commit succeeded although it failed here is tried again, and this process
   * may have claimed them since.
   */
  function execute({ holder, deliveries }: Release): Promise<void> {
    return database.transaction(async (transaction) => {
      await preferIndexes(transaction);
      const batches = new Set(deliveries.flatMap(({ batch }) => batch?.guid ?? []));
      const held = lanes().heldGuidsOf(new Set(deliveries.map(({ subscriptionGuid }) => subscriptionGuid)));
      await requeueBatches(transaction, named([...batches]), { holder, held });
      const isHeld = new Set(held);
      const free = deliveries.filter(({ guid }) => !isHeld.has(guid));
      await releaseDeliveries(transaction, holder, free);
    });
  }

  /** `holder` leases the deliveries. */
  function release(deliveries: readonly Delivery[], holder = lease.lastHolder()): void {
    if (holder === undefined || deliveries.length === 0) return;
    const entry = { holder, deliveries };
    pending.add(entry);
    const execution = execute(entry)
      .then(
        () => {
          pending.delete(entry);
          onReleased();
        },
        () => void failed.push(entry),
      )
      .finally(() => running.delete(execution));
    running.add(execution);
  }

  function releaseGathered(): void {
    const all = gathered;
    gathered = [];
    release(all);
  }

  return {
    release,

    /** Endpoints that stop answering together time out together, so their releases share a transaction. */
    requeue(deliveries: readonly Delivery[]): void {
      if (gathered.length === 0) setImmediate(releaseGathered);
      gathered = gathered.concat(deliveries);
    },

    /** Repeats failed releases. Before a claim and never during one, so that lanes hold all claimed deliveries. */
    async retry(): Promise<void> {
      const holder = lease.lastHolder();
      for (const entry of failed.splice(0)) {
        // After the loss of a lease another dispatcher has released everything.
        if (entry.holder === holder)
          try {
            await execute(entry);
          } catch {
            failed.push(entry);
            continue;
          }
        pending.delete(entry);
      }
    },

    /** Resolves when no release is in progress; failed ones are not repeated. */
    async idle(): Promise<void> {
      releaseGathered();
      await Promise.all(running);
    },

    /** Deliveries that are in no lane, but not untracked. */
    pendingGuids: (): string[] => [
      ...gathered.map(({ guid }) => guid),
      ...[...pending].flatMap(({ deliveries }) => deliveries.map(({ guid }) => guid)),
    ],
  };
}
