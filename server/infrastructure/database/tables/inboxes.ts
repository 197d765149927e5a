import type { JSONColumnType } from 'kysely';

export type InboxTables = {
  inboxes: InboxesTable;
  inbox_requests: InboxRequestsTable;
};

type Answer = 'success' | 'error' | 'slow' | 'hang' | 'refuse';

type InboxesTable = {
  guid: string;
  organization_guid: string;
  name: string;
  token: string;
  answer: Answer;
  created_at: Date;
};

type InboxRequestsTable = {
  guid: string;
  inbox_guid: string;
  headers: JSONColumnType<[name: string, value: string][]>;
  body: Buffer;
  signature: 'valid' | 'invalid' | 'missing';
  subscription_guid: string | null;
  event_guid: string | null;
  event_type: string | null;
  address: string | null;
  answer: Answer;
  received_at: Date;
};
