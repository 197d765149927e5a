import type { Change } from '../../infrastructure/audit/service.ts';
import { replacedBy } from '../../infrastructure/runtime/changes.ts';
import type { NewEvent } from '../events/service.ts';
import type { SubscriptionRow } from './state.ts';

/** Audit record of a change; never contains the key. */
export function changeOf(
  verb: 'create' | 'update' | 'delete' | 'remove' | 'fail',
  row: SubscriptionRow,
  changes: Record<string, unknown>,
): Change {
  const { guid, organization_guid: organizationGuid } = row;
  const before =
    verb === 'update'
      ? replacedBy(changes, { ...row, disabled: row.disabled_at !== null, paused: row.paused_at !== null })
      : undefined;
  return {
    action: `subscription.${verb}`,
    organizationGuid,
    objectType: 'subscription',
    objectId: guid,
    changes,
    before,
  };
}

export function eventOf(
  eventType: Extract<NewEvent['eventType'], `subscription.${string}`>,
  { guid, organization_guid: organizationGuid, environment }: SubscriptionRow,
): NewEvent {
  return { eventType, organizationGuid, objectGuid: guid, environment };
}
