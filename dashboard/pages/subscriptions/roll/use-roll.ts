import type { Subscription } from '../../../api/types.ts';
import { useSubscriptions } from '../../../shared/deliveries/use-subscriptions.ts';

/** A roll of a signing key that is in progress. */
export type Roll = { old: Subscription; replacement: Subscription };

const DELIVERING: readonly Subscription['state'][] = ['storing', 'active'];

/** The roll that a subscription takes part in, as the old one or as its replacement. */
export function useRoll({ guid }: Subscription): Roll | undefined {
  const delivering = useSubscriptions().filter(({ state }) => DELIVERING.includes(state));
  const replacement = delivering.find(
    (each) => each.replaces_guid !== undefined && [each.guid, each.replaces_guid].includes(guid),
  );
  const old = delivering.find((each) => each.guid === replacement?.replaces_guid);
  return replacement && old ? { old, replacement } : undefined;
}
