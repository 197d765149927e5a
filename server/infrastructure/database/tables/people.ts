import type { Generated, JSONColumnType } from 'kysely';

export type PeopleTables = {
  members: MembersTable;
  memberships: MembershipsTable;
  logins: LoginsTable;
  sessions: SessionsTable;
  login_links: LoginLinksTable;
  login_networks: LoginNetworksTable;
  passkeys: PasskeysTable;
  passkey_challenges: PasskeyChallengesTable;
  saved_filters: SavedFiltersTable;
};

type MembersTable = {
  guid: string;
  email: string;
  name: string | null;
  created_at: Date;
  updated_at: Date;
};

type MembershipsTable = {
  organization_guid: string;
  member_guid: string;
  role: 'founder' | 'key_admin' | 'developer' | 'viewer';
  grant_guid: string;
  created_at: Date;
  updated_at: Date;
  accepted_at: Date | null;
  last_seen_at: Date | null;
};

type LoginsTable = {
  member_guid: string;
  password_hash: string | null;
  totp_secret_encrypted: Buffer | null;
  totp_begun_at: Date | null;
  totp_confirmed_at: Date | null;
  totp_step: Generated<number>;
  recovery_code_hashes: Generated<string[]>;
  updated_at: Date;
};

type SessionsTable = {
  guid: string;
  member_guid: string;
  token_hash: Buffer;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  address: string | null;
  user_agent: string | null;
  proved_at: Date | null;
  second_factor_at: Date | null;
};

type LoginLinksTable = {
  token_hash: Buffer;
  member_guid: string;
  purpose: 'invitation' | 'password_reset';
  organization_guid: string | null;
  created_at: Date;
  expires_at: Date;
};

type LoginNetworksTable = {
  member_guid: string;
  network: string;
  used_at: Date;
};

type PasskeysTable = {
  guid: string;
  member_guid: string;
  credential_id: string;
  public_key: Buffer;
  counter: number;
  transports: string[];
  name: string;
  created_at: Date;
  last_used_at: Date | null;
};

type PasskeyChallengesTable = {
  guid: string;
  challenge_hash: Buffer;
  member_guid: string | null;
  expires_at: Date;
};

type SavedFiltersTable = {
  guid: string;
  organization_guid: string;
  member_guid: string;
  list: string;
  name: string;
  filters: JSONColumnType<Record<string, string>>;
  created_at: Date;
};
