import type { EventType } from '../webhooks/events/catalogue.ts';
import type { NewEvent } from '../webhooks/events/service.ts';
import { kindsOf } from './machine.ts';
import type { ObjectRow } from './store.ts';
import type { ObjectType } from './types.ts';

/** The events of a transition; none when the state is unchanged. */
export function eventsOf({ name, machine }: ObjectType, from: string | null, object: ObjectRow): NewEvent[] {
  if (!machine || object.state === null || object.state === from) return [];
  return kindsOf(machine, from ?? undefined, object.state).map((kind) => ({
    // A test checks that every kind is in the catalogue.
    eventType: `${name}.${kind}` as EventType,
    organizationGuid: object.organization_guid,
    bankGuid: object.bank_guid,
    objectGuid: object.guid,
    environment: object.environment,
  }));
}

/** The audit record has the owner, the type and the names of the changed fields, never a name or an amount. */
export function changeOf(
  type: ObjectType,
  action: 'create' | 'report' | 'update' | 'delete',
  object: ObjectRow,
  fields?: readonly string[],
) {
  const { bank_guid, customer_guid, state } = object;
  return {
    action: `${type.name}.${action}` as const,
    organizationGuid: object.organization_guid,
    objectType: type.name,
    objectId: object.guid,
    changes: {
      bank_guid,
      ...(customer_guid === null || type.customer === 'itself' ? {} : { customer_guid }),
      ...(state === null ? {} : { state }),
      ...('type' in object.details && { type: object.details.type }),
      ...(fields && { fields }),
    },
  };
}
