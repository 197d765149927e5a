import { contextOf as contextOfSlackUrl } from '../../alerts/settings/settings.ts';
import { contextOf as contextOfSecretKey, PURPOSE } from '../../credentials/applications/client-secret.ts';
import { contextOf as contextOfAnswer } from '../../infrastructure/idempotency/service.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { contextOf as contextOfTotp } from '../../people/login/second-factors/totp.ts';
import { contextOf as contextOfSigningKey } from '../../webhooks/subscriptions/signing-key.ts';

/** A row as PostgreSQL writes it as JSON. */
export type JsonRow = Record<string, unknown>;

type Context = (row: Record<string, string>) => string;

/** Columns that are encrypted under the master key, by table. Guids have no dashes in a context. */
export const ENCRYPTED: Readonly<Record<string, { column: string; context: Context }>> = {
  subscriptions: {
    column: 'signing_key_encrypted',
    context: ({ guid = '' }) => contextOfSigningKey(plain(guid)),
  },
  logins: {
    column: 'totp_secret_encrypted',
    context: ({ member_guid = '' }) => contextOfTotp(plain(member_guid)),
  },
  alert_settings: {
    column: 'slack_url_encrypted',
    context: ({ organization_guid = '' }) => contextOfSlackUrl(plain(organization_guid)),
  },
  idempotency_keys: {
    column: 'body_encrypted',
    context: ({ owner = '', key = '' }) => contextOfAnswer({ owner, key }),
  },
};

/** The key of the hash of a client secret, in an export only. */
const HASH_KEY = 'secret_hash_key';

/** Without the master key: the export itself is encrypted. */
export function revealSecrets(encryption: Encryption, table: string, row: JsonRow): JsonRow {
  const encrypted = ENCRYPTED[table];
  if (encrypted) {
    const { column, context } = encrypted;
    const value = row[column];
    if (value !== null)
      return { ...row, [column]: encryption.decrypt(bytesOf(value), context(row as Record<string, string>)) };
  }
  if (table !== 'applications') return row;
  const { secret_hash_key_encrypted: imported, ...application } = row;
  const keyId = String(row.secret_key_id);
  const key = imported
    ? encryption.decrypt(bytesOf(imported), contextOfSecretKey(keyId))
    : encryption.deriveKey(PURPOSE, keyId)?.toString('hex');
  return { ...application, [HASH_KEY]: key };
}

/** Under the master key of this installation. */
export function protectSecrets(encryption: Encryption, table: string, row: JsonRow): JsonRow {
  const encrypted = ENCRYPTED[table];
  if (encrypted) {
    const { column, context } = encrypted;
    const value = row[column];
    if (value !== null)
      return {
        ...row,
        [column]: textOf(encryption.encrypt(String(value), context(row as Record<string, string>))),
      };
  }
  if (table !== 'applications') return row;
  const { [HASH_KEY]: key, ...application } = row;
  const keyId = String(row.secret_key_id);
  const isOwn = key === undefined || encryption.deriveKey(PURPOSE, keyId) !== undefined;
  const secret_hash_key_encrypted = isOwn
    ? null
    : textOf(encryption.encrypt(String(key), contextOfSecretKey(keyId)));
  return { ...application, secret_hash_key_encrypted };
}

export function plain(guid: string): string {
  return guid.replaceAll('-', '');
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(String(value).slice('\\x'.length), 'hex');
}

function textOf(bytes: Buffer): string {
  return `\\x${bytes.toString('hex')}`;
}
