import type { Change } from '../../infrastructure/audit/service.ts';
import type { NewEvent } from '../events/service.ts';
import type { SubscriptionRow } from './state.ts';

/** Audit record of a change; never contains the key. */
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

export function eventOf(
  eventType: Extract<NewEvent['eventType'], `subscription.${string}`>,
  { guid, organization_guid: organizationGuid, environment }: SubscriptionRow,
): NewEvent {
  return { eventType, organizationGuid, objectGuid: guid, environment };
}
