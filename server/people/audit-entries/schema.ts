import Type, { type Static } from 'typebox';
import { AuditRecordView, viewAuditRecord } from '../../infrastructure/audit/schema.ts';
import type { AuditRecord } from '../../infrastructure/audit/service.ts';

const { organization_guid: _, ...shown } = AuditRecordView.properties;

/** An audit record as members of the Organization see it. */
export const AuditEntryView = Type.Object({
  ...shown,
  actor_email: Type.Optional(Type.String({ description: 'of a person, also one who has left the team' })),
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
] as const satisfies (keyof AuditEntry)[];

/** Source addresses of the operator are hidden from Organizations. */
export function viewAuditEntry(record: AuditRecord, emails: ReadonlyMap<string, string>): AuditEntry {
  const { organization_guid: _organization, address, ...entry } = viewAuditRecord(record);
  const showsAddress = record.actor_type !== 'operator' && record.actor_type !== 'system';
  const email = record.actor_type === 'user' ? emails.get(record.actor) : undefined;
  return {
    ...entry,
    ...(showsAddress && address !== undefined ? { address } : {}),
    ...(email === undefined ? {} : { actor_email: email }),
  };
}
