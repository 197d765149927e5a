import type { Selectable, Updateable } from 'kysely';
import type { AlertTables } from './tables/alerts.ts';
import type { CredentialTables } from './tables/credentials.ts';
import type { InboxTables } from './tables/inboxes.ts';
import type { ObjectTables } from './tables/objects.ts';
import type { PeopleTables } from './tables/people.ts';
import type { RequestTables } from './tables/requests.ts';
import type { WebhookTables } from './tables/webhooks.ts';

export type { EnvironmentName } from './tables/environment.ts';
export type { FileFailureCode } from './tables/objects.ts';
export type { FailureKind, RedeliveryKind } from './tables/webhooks.ts';

/** The columns as Kysely sees them; `migrations/` defines them. */
export type Tables = CredentialTables &
  WebhookTables &
  InboxTables &
  ObjectTables &
  PeopleTables &
  AlertTables &
  RequestTables;

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type RowChanges<Name extends keyof Tables> = Updateable<Tables[Name]>;
