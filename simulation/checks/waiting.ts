import type { Node } from '../world/node.ts';
import type { World } from '../world/world.ts';

/** Invariant 2, at each rest: no delivery waits past its time while its endpoint and a node are healthy. */
export type Waiting = {
  url: string;
  /** Of the first delivery that any dispatcher may claim. */
  due: Date | null;
  /** Of the first delivery that a dispatcher has claimed. */
  leased_due: Date | null;
  /** Dispatchers that lease deliveries or batches. */
  holders: readonly string[];
  /** One of them has been taken over from: a task requeues what it committed after that. */
  is_orphaned: boolean;
  rule_at: Date | null;
};

/**
 * Dispatchers poll every second, or up to 10 seconds after a poll that took long. A jump makes both later by up to 5
 * seconds.
 */
const CLAIMED_WITHIN_MS = 20_000;
/**
 * A claim whose answer was lost: the dispatcher looks every 60 seconds for deliveries that it has not known of for 60
 * seconds.
 */
export const OVERDUE_MS = 130_000;
/** The lease of a killed dispatcher ends after 10 seconds. Others look every 2 seconds, up to 5 later after a jump. */
const TAKEN_OVER_WITHIN_MS = 20_000;

export function checkWaiting(world: World, rows: readonly Waiting[]): void {
  const { model, endpoints, scheduler, nodes } = world;
  const now = scheduler.now();
  noteHolders(world);
  const undisturbedSince = Math.max(
    ...[model.lastFaultEnd(), scheduler.jumpedAt()],
    Math.min(...nodes.map((node) => node.runsSince())),
  );
  const seen = new Set<string>();
  for (const { url, due, leased_due: leasedDue, holders } of rows) {
    const canReceiveSince = Math.max(undisturbedSince, endpoints.healthySince(url));
    if (due && due.getTime() <= now) {
      seen.add(url);
      // Until a dispatcher has released it, a delivery is not claimed.
      if (!model.claimableSince.has(url)) model.claimableSince.set(url, now);
      const since = Math.max(Number(model.claimableSince.get(url)), canReceiveSince);
      model.check(
        now - since <= CLAIMED_WITHIN_MS,
        () => `no dispatcher has claimed a delivery to ${url} for ${Math.round(now - since)} ms`,
      );
    }
    if (leasedDue) {
      const since = Math.max(leasedDue.getTime(), canReceiveSince);
      model.check(
        now - since <= OVERDUE_MS,
        () => `a delivery to ${url} waits ${Math.round(now - since)} ms past its time`,
      );
    }
    for (const holder of holders) {
      const owner = model.holders.get(holder.replaceAll('-', ''));
      model.check(
        !owner?.isDead || now - undisturbedSince <= TAKEN_OVER_WITHIN_MS,
        () => `no dispatcher has taken over from ${owner?.name} a delivery to ${url}`,
      );
    }
  }
  for (const url of model.claimableSince.keys()) if (!seen.has(url)) model.claimableSince.delete(url);
}

function noteHolders({ nodes, model }: World): void {
  const note = (node: Node) => {
    const [lease, owner] = [node.lease(), node.owner()];
    if (lease !== undefined && owner) model.holders.set(lease, owner);
  };
  for (const node of nodes) note(node);
}
