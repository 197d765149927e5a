import type { EventType } from '../webhooks/events/catalogue.ts';
import type { NewEvent } from '../webhooks/events/service.ts';
import { kindsOf } from './machine.ts';
import type { ObjectRow } from './store.ts';
import type { ObjectType } from './types.ts';

/** What a move is told by: nothing, if the state is what it was. */
export function eventsOf({ name, machine }: ObjectType, from: string | null, object: ObjectRow): NewEvent[] {
  if (!machine || object.state === null || object.state === from) return [];
  return kindsOf(machine, from ?? undefined, object.state).map((kind) => ({
    // That every kind of every machine is in the catalogue is tested.
    eventType: `${name}.${kind}` as EventType,
    organizationGuid: object.organization_guid,
    bankGuid: object.bank_guid,
    objectGuid: object.guid,
    environment: object.environment,
  }));
}

/** For the audit record: whose it is and what kind of one, never a name or an amount. */
export function changeOf(type: ObjectType, action: 'create' | 'report', object: ObjectRow) {
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
    },
  };
}
