import type { Change } from '../../infrastructure/audit/service.ts';
import type { NewEvent } from '../events/service.ts';
import type { SubscriptionRow } from './store.ts';

/** What is written down about a change of a subscription; never its key. */
export function changeOf(
  verb: 'create' | 'update' | 'delete' | 'remove' | 'fail',
  { guid, organization_guid: organizationGuid }: SubscriptionRow,
  changes: Record<string, unknown>,
): Change {
  return {
    action: `subscription.${verb}`,
    organizationGuid,
    objectType: 'subscription',
    objectId: guid,
    changes,
  };
}

/** What is announced about it, in its own environment and of no bank. */
export function eventOf(
  eventType: Extract<NewEvent['eventType'], `subscription.${string}`>,
  { guid, organization_guid: organizationGuid, environment }: SubscriptionRow,
): NewEvent {
  return { eventType, organizationGuid, objectGuid: guid, environment };
}
