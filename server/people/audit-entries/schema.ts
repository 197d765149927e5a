import Type, { type Static } from 'typebox';
import { AuditRecordView, viewAuditRecord } from '../../infrastructure/audit/schema.ts';
import type { AuditRecord } from '../../infrastructure/audit/service.ts';
import { viewSchema } from '../../infrastructure/http/requests/schemas.ts';
import type { Names } from './names.ts';

const { organization_guid: _, ...shown } = AuditRecordView.properties;

/** An audit record as members of the Organization see it. */
export const AuditEntryView = viewSchema('AuditEntry', {
  ...shown,
  actor_name: Type.Optional(
    Type.String({ description: 'Name of a member or a key pair', example: 'Ada Lovelace' }),
  ),
  actor_email: Type.Optional(
    Type.String({
      description: 'Email address of a member, also of a former one',
      example: 'ada@partner.example',
    }),
  ),
  object_name: Type.Optional(
    Type.String({
      description: 'Current name of the object, or its last one; of a delivery that of its subscription',
      example: 'Acme Bank',
    }),
  ),
});
export type AuditEntry = Static<typeof AuditEntryView>;

export const AUDIT_COLUMNS = [
  'created_at',
  'actor_type',
  'actor',
  'actor_email',
  'action',
  'object_type',
  'object_id',
  'changes',
  'address',
  'request_id',
  'guid',
  'actor_name',
  'object_name',
  'before',
] as const satisfies (keyof AuditEntry)[];

/** Source addresses of the operator are hidden from Organizations. */
export function viewAuditEntry(
  record: AuditRecord,
  { actorName, actorEmail, objectName }: Names,
): AuditEntry {
  const { organization_guid: _organization, address, ...entry } = viewAuditRecord(record);
  const showsAddress = record.actor_type !== 'operator' && record.actor_type !== 'system';
  return {
    ...entry,
    ...(showsAddress && address !== undefined ? { address } : {}),
    ...(actorName === undefined ? {} : { actor_name: actorName }),
    ...(actorEmail === undefined ? {} : { actor_email: actorEmail }),
    ...(objectName === undefined ? {} : { object_name: objectName }),
  };
}
