import type { Generated, JSONColumnType } from 'kysely';
import type { EnvironmentName } from './environment.ts';

export type CredentialTables = {
  organizations: OrganizationsTable;
  banks: BanksTable;
  applications: ApplicationsTable;
  signing_keys: SigningKeysTable;
  revocations: RevocationsTable;
  verifying_nodes: VerifyingNodesTable;
};

type OrganizationsTable = {
  guid: string;
  name: string;
  live: boolean;
  features: string[];
  second_factor_roles: Generated<string[]>;
  second_factor_in_production: boolean | null;
  /** Set while the Organization moves to another database. */
  frozen_at: Generated<Date | null>;
  /** The start of a freeze that has not ended. */
  freezing_at: Generated<Date | null>;
  /** Set while it is deleted after the move. */
  removing_at: Generated<Date | null>;
  /** Set by an import, and named by the tokens of key pairs. */
  grant_guid: Generated<string | null>;
  created_at: Date;
  updated_at: Date;
};

type BanksTable = {
  guid: string;
  organization_guid: string;
  name: string;
  environment: EnvironmentName;
  features: Generated<string[]>;
  supported_fiat_account_assets: string[] | null;
  supported_trading_symbols: string[] | null;
  created_at: Date;
  updated_at: Date;
};

type ApplicationsTable = {
  client_id: string;
  organization_guid: string;
  bank_guid: string | null;
  name: string;
  scopes: string[];
  ip_allowlist: string[];
  secret_hash: Buffer;
  secret_key_id: string;
  /** Set until the next use of an imported key pair. */
  secret_hash_key_encrypted: Generated<Buffer | null>;
  created_at: Date;
  updated_at: Date;
  last_used_at: Date | null;
  last_used_ip: string | null;
  replaces_client_id: string | null;
};

type SigningKeysTable = {
  kid: string;
  public_jwk: JSONColumnType<object>;
  private_jwk_encrypted: Buffer;
  signs_from: Date;
  created_at: Date;
};

type RevocationsTable = {
  revision: Generated<number>;
  kind: 'application' | 'token' | 'edit' | 'freeze';
  subject: string;
  expires_at: Date;
  created_at: Date;
};

type VerifyingNodesTable = {
  guid: string;
  revision: number;
  lease_until: Date;
};
