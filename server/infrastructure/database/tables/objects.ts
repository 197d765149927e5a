import type { Generated, JSONColumnType } from 'kysely';
import type { EnvironmentName } from './environment.ts';

export type ObjectTables = {
  objects: ObjectsTable;
  prices: PricesTable;
  quote_uses: QuoteUsesTable;
  files: FilesTable;
  file_deletions: FileDeletionsTable;
  content_sweeps: ContentSweepsTable;
};

type ObjectsTable = {
  guid: string;
  organization_guid: string;
  environment: EnvironmentName;
  bank_guid: string;
  customer_guid: string | null;
  type: string;
  state: string | null;
  details: JSONColumnType<Record<string, unknown>>;
  labels: string[];
  created_at: Date;
  updated_at: Date;
  ending: string | null;
  next_move_at: Date | null;
  guid_time_differs: Generated<boolean>;
};

type PricesTable = {
  symbol: string;
  buy_price: string;
  sell_price: string;
  reported_at: Date;
};

type QuoteUsesTable = {
  organization_guid: string;
  quote_guid: string;
  object_guid: string;
  used_at: Date;
};

export type FileFailureCode = 'upload_expired' | 'content_type_mismatch' | 'infected' | 'empty' | 'too_large';

type FilesTable = {
  guid: string;
  organization_guid: string;
  bank_guid: string;
  customer_guid: string;
  environment: EnvironmentName;
  type: string;
  filename: string;
  content_type: string;
  max_bytes: number;
  size: number | null;
  sha256: string | null;
  failure_code: FileFailureCode | null;
  upload_expires_at: Date | null;
  uploaded_at: Date | null;
  next_look_at: Date | null;
  leased_by: string | null;
  upload_leased_by: string | null;
  upload_leased_until: Date | null;
  pending_bytes: number | null;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  failed_at: Date | null;
};

type FileDeletionsTable = {
  guid: string;
  due_at: Date;
};

type ContentSweepsTable = {
  storage: string;
  position: string | null;
  pass_started_at: Date;
};
