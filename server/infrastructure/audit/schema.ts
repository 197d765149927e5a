import Type, { type Static } from 'typebox';
import { Guid, Timestamp } from '../http/requests/schemas.ts';
import type { AuditRecord } from './store.ts';

export const AuditRecordView = Type.Object({
  guid: Guid,
  organization_guid: Type.Optional(Guid),
  actor_type: Type.String({ description: 'operator, application, user, system or anonymous' }),
  actor: Type.String(),
  action: Type.String({ example: 'bank.create' }),
  object_type: Type.String(),
  object_id: Type.String(),
  changes: Type.Record(Type.String(), Type.Unknown()),
  address: Type.Optional(Type.String()),
  request_id: Type.Optional(Type.String()),
  created_at: Timestamp,
});

export function viewAuditRecord(record: AuditRecord): Static<typeof AuditRecordView> {
  return {
    guid: record.guid,
    ...(record.organization_guid === null ? {} : { organization_guid: record.organization_guid }),
    actor_type: record.actor_type,
    actor: record.actor,
    action: record.action,
    object_type: record.object_type,
    object_id: record.object_id,
    changes: record.changes,
    ...(record.address === null ? {} : { address: record.address }),
    ...(record.request_id === null ? {} : { request_id: record.request_id }),
    created_at: record.created_at.toISOString(),
  };
}
