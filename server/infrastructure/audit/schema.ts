import Type, { type Static } from 'typebox';
import { AnyObject, Guid, Timestamp, viewSchema } from '../http/requests/schemas.ts';
import type { AuditRecord } from './store.ts';

export const AuditRecordView = viewSchema('AuditRecord', {
  guid: Guid,
  organization_guid: Type.Optional(Guid),
  actor_type: Type.String({
    description: 'operator, application, user, system or anonymous',
    example: 'application',
  }),
  actor: Type.String({
    description: 'client_id of a key pair, guid of a member, operator or portico',
    example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
  }),
  action: Type.String({ example: 'bank.create' }),
  object_type: Type.String({ example: 'bank' }),
  object_id: Type.String({
    description: 'A guid or a client_id',
    example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
  }),
  changes: { ...AnyObject, example: { name: 'Acme Bank' } } as typeof AnyObject,
  before: Type.Optional({
    ...AnyObject,
    description: 'The values that an update replaced',
    example: { name: 'Acme' },
  } as typeof AnyObject),
  address: Type.Optional(
    Type.String({ description: 'Source address of the request', example: '198.51.100.7' }),
  ),
  request_id: Type.Optional(Type.String({ example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6' })),
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
    ...(record.before === null ? {} : { before: record.before }),
    ...(record.address === null ? {} : { address: record.address }),
    ...(record.request_id === null ? {} : { request_id: record.request_id }),
    created_at: record.created_at.toISOString(),
  };
}
