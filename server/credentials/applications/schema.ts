import Type, { type Static } from 'typebox';
import {
  Guid,
  inputSchema,
  nameSchema,
  strictObject,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import { MAX_SCOPES } from '../../tokens/scopes.ts';
import type { Application } from './store.ts';

const MAX_NAME_CHARACTERS = 128;
/** Bounds the input; the limit of three entries has an error message of its own. */
const MAX_ENTRIES_READ = 100;
const MAX_ENTRY_CHARACTERS = 256;

const Name = nameSchema(MAX_NAME_CHARACTERS, 'Settlement service');
const Scopes = Type.Array(Type.String({ maxLength: 128, example: 'customers:read' }), {
  maxItems: MAX_SCOPES,
  description: 'Scopes that tokens of this key pair can have. Default: every scope of its kind',
});
/** Public, unlike the addresses for documentation (RFC 5737): examples can be sent as they are. */
const A_RANGE = '8.8.8.0/24';
const IpAllowlist = Type.Array(Type.String({ maxLength: MAX_ENTRY_CHARACTERS, example: A_RANGE }), {
  maxItems: MAX_ENTRIES_READ,
  description: 'At most 3 public IPv4 addresses or CIDR ranges. An empty list allows every address',
});

/** A first key pair, which replaces no other. */
const example = { scopes: ['customers:read'], ip_allowlist: [A_RANGE] };
export const NewApplication = strictObject(
  {
    name: Name,
    scopes: Type.Optional(Scopes),
    ip_allowlist: Type.Optional(IpAllowlist),
    replaces_client_id: Type.Optional({
      ...Guid,
      description: 'The key pair of the same owner that this one replaces in a rotation',
    }),
  },
  { title: 'NewApplication', example },
);
export const NewBankApplication = strictObject(
  { ...NewApplication.properties, bank_guid: Guid },
  { title: 'NewBankApplication', example },
);

export const ApplicationChanges = inputSchema('ApplicationChanges', {
  name: Type.Optional(Name),
  scopes: Type.Optional(Scopes),
  ip_allowlist: Type.Optional(IpAllowlist),
});

export const ApplicationParams = strictObject({ client_id: Guid });

export const ApplicationView = viewSchema('Application', {
  client_id: Guid,
  bank_guid: Type.Optional({ ...Guid, description: 'The bank of a bank key pair' }),
  name: Type.String({ example: 'Settlement service' }),
  scopes: Type.Array(Type.String({ example: 'customers:read' })),
  ip_allowlist: Type.Array(Type.String({ example: A_RANGE })),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_used_at: Type.Optional(Timestamp),
  last_used_ip: Type.Optional(Type.String({ example: '8.8.8.7' })),
  replaces_client_id: Type.Optional({
    ...Guid,
    description: 'The key pair that this one replaces, until that is deleted',
  }),
});

/** Fields that change with each use of the key pair. */
export const APPLICATION_ACTIVITY = ['last_used_at', 'last_used_ip'] as const;

export const CreatedApplicationView = viewSchema('CreatedApplication', {
  ...ApplicationView.properties,
  client_secret: Type.String({
    description: 'Returned by this response only. Store it: it cannot be retrieved again',
    example: 'portico_sk_EXAMPLE8Qm2Zt6vN0xYw4Rk1Hs7Lb3Dc9Fj5Ga',
  }),
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
    ...(application.replaces_client_id === null
      ? {}
      : { replaces_client_id: application.replaces_client_id }),
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
