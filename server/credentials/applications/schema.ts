import Type, { type Static } from 'typebox';
import { Guid, strictObject, Timestamp } from '../../infrastructure/http/requests/schemas.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import { MAX_SCOPES } from '../../tokens/scopes.ts';
import type { Application } from './store.ts';

const MAX_NAME_CHARACTERS = 128;
/** Bounds the input; the limit of three entries has an error message of its own. */
const MAX_ENTRIES_READ = 100;
const MAX_ENTRY_CHARACTERS = 256;

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: '\\S' });
const Scopes = Type.Array(Type.String({ maxLength: 128 }), {
  maxItems: MAX_SCOPES,
  description: 'scopes that tokens of this key can be granted; default: all scopes of its kind',
});
const IpAllowlist = Type.Array(Type.String({ maxLength: MAX_ENTRY_CHARACTERS }), {
  maxItems: MAX_ENTRIES_READ,
  description: 'up to 3 public IPv4 addresses or CIDR ranges; empty: unrestricted',
});

export const NewApplication = strictObject({
  name: Name,
  scopes: Type.Optional(Scopes),
  ip_allowlist: Type.Optional(IpAllowlist),
});
export const NewBankApplication = strictObject({ ...NewApplication.properties, bank_guid: Guid });

export const ApplicationChanges = strictObject({
  name: Type.Optional(Name),
  scopes: Type.Optional(Scopes),
  ip_allowlist: Type.Optional(IpAllowlist),
});

export const ApplicationParams = strictObject({ client_id: Guid });

export const ApplicationView = Type.Object({
  client_id: Guid,
  bank_guid: Type.Optional(Guid),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  ip_allowlist: Type.Array(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_used_at: Type.Optional(Timestamp),
  last_used_ip: Type.Optional(Type.String()),
});

export const CreatedApplicationView = Type.Object({
  ...ApplicationView.properties,
  client_secret: Type.String({ description: 'shown only once, cannot be retrieved later' }),
});

export function viewApplication(application: Application): Static<typeof ApplicationView> {
  return {
    client_id: application.client_id,
    ...(application.bank_guid === null ? {} : { bank_guid: application.bank_guid }),
    name: application.name,
    scopes: application.scopes,
    ip_allowlist: application.ip_allowlist,
    created_at: application.created_at.toISOString(),
    updated_at: application.updated_at.toISOString(),
    ...(application.last_used_at === null ? {} : { last_used_at: application.last_used_at.toISOString() }),
    ...(application.last_used_ip === null ? {} : { last_used_ip: application.last_used_ip }),
  };
}

export function viewCreated({
  application,
  secret,
}: {
  application: Application;
  secret: Secret;
}): Static<typeof CreatedApplicationView> {
  return { ...viewApplication(application), client_secret: secret.reveal() };
}
