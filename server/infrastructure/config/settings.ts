import { MIN_CONNECTIONS } from '../database/connections/connection-counts.ts';
import type { LogLevel } from '../runtime/log.ts';
import * as parse from './parsers.ts';

/**
 * All settings: variable, parser and description. `config.ts` builds one frozen object of them, and `portico config`
 * prints them.
 */
const LOG_LEVELS: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'];
const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;

export const settings = {
  host: { variable: 'PORTICO_HOST', parse: parse.text, about: 'address to listen on' },
  port: { variable: 'PORTICO_PORT', parse: parse.integer(0, 65_535), about: 'port to listen on' },
  operatorHost: {
    variable: 'PORTICO_OPERATOR_HOST',
    parse: parse.text,
    about: 'address of the listener for /operator and /metrics',
  },
  operatorPort: {
    variable: 'PORTICO_OPERATOR_PORT',
    parse: parse.integer(0, 65_535),
    about: 'port of the listener for /operator and /metrics',
  },
  operatorUrl: {
    variable: 'PORTICO_OPERATOR_URL',
    parse: parse.origin,
    about: 'URL at which portico operator reaches the service',
  },
  metricsPort: {
    variable: 'PORTICO_METRICS_PORT',
    parse: parse.integer(0, 65_535),
    about: 'port of /healthz, /readyz and /metrics of a dispatch process; unset: none',
  },
  baseUrl: {
    variable: 'PORTICO_BASE_URL',
    parse: parse.origin,
    about: 'URL at which partners reach the API',
  },
  sandboxAuthUrl: {
    variable: 'PORTICO_SANDBOX_AUTH_URL',
    parse: parse.origin,
    about: 'token issuer of the sandbox environment',
  },
  productionAuthUrl: {
    variable: 'PORTICO_PRODUCTION_AUTH_URL',
    parse: parse.origin,
    about: 'token issuer of the production environment',
  },
  uploadUrl: {
    variable: 'PORTICO_UPLOAD_URL',
    parse: parse.origin,
    about: 'URL for direct file uploads',
  },
  dataDir: {
    variable: 'PORTICO_DATA_DIR',
    parse: parse.text,
    about: 'folder for the embedded database and files',
  },
  databaseUrl: {
    variable: 'PORTICO_DATABASE_URL',
    parse: parse.databaseUrl,
    about: 'PostgreSQL to use; unset: an embedded one in the data folder',
  },
  migrationDatabaseUrl: {
    variable: 'PORTICO_MIGRATION_DATABASE_URL',
    parse: parse.databaseUrl,
    about: 'the same PostgreSQL as the owner of its tables, for portico migrate; unset: PORTICO_DATABASE_URL',
  },
  databaseConnections: {
    variable: 'PORTICO_DATABASE_CONNECTIONS',
    parse: parse.integer(MIN_CONNECTIONS, 1_000),
    about: 'maximum number of connections of one process to PostgreSQL',
  },
  masterKeys: {
    variable: 'PORTICO_MASTER_KEY',
    parse: parse.masterKeys,
    about:
      'encrypts stored secrets (embedded: generated unless set); several, newest first, during a rotation',
  },
  operatorToken: {
    variable: 'PORTICO_OPERATOR_TOKEN',
    parse: parse.bearerToken,
    about: 'bearer token of the operator API (embedded: generated unless set)',
  },
  transferKey: {
    variable: 'PORTICO_TRANSFER_KEY',
    parse: parse.passphrase,
    about: 'encrypts the file of portico operator organizations export and import',
  },
  trustedProxies: {
    variable: 'PORTICO_TRUSTED_PROXIES',
    parse: parse.addressRanges,
    about: 'proxies whose X-Forwarded-For is trusted',
  },
  supportEmail: {
    variable: 'PORTICO_SUPPORT_EMAIL',
    parse: parse.emailAddress,
    about: 'shown to partners who have to contact the operator',
  },
  demo: {
    variable: 'PORTICO_DEMO',
    parse: parse.boolean,
    about: 'create a demo organization on the first start',
  },
  allowlistPolicy: {
    variable: 'PORTICO_ALLOWLIST_POLICY',
    parse: parse.oneOf('required', 'optional'),
    about: 'whether new keys require an IP allowlist',
  },
  allowlistMinPrefix: {
    variable: 'PORTICO_ALLOWLIST_MIN_PREFIX',
    parse: parse.integer(0, 32),
    about: 'prefix length of the widest range in an IP allowlist',
  },
  webhookAllowPrivate: {
    variable: 'PORTICO_WEBHOOK_ALLOW_PRIVATE',
    parse: parse.boolean,
    about: 'allow sandbox webhooks to private addresses',
  },
  rateLimitTokenPerClient: {
    variable: 'PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT',
    parse: parse.integer(1, 1_000_000_000),
    about: 'token requests per 5 minutes of one client from one address',
  },
  rateLimitTokenPerAddress: {
    variable: 'PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS',
    parse: parse.integer(1, 1_000_000_000),
    about: 'token requests per 5 minutes from one address',
  },
  rateLimitCustomerToken: {
    variable: 'PORTICO_RATE_LIMIT_CUSTOMER_TOKEN',
    parse: parse.integer(1, 1_000_000_000),
    about: 'customer token requests per 5 minutes of one client',
  },
  rateLimitLoginPerEmail: {
    variable: 'PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL',
    parse: parse.integer(1, 1_000_000_000),
    about: 'logins per 5 minutes with one email address from one address',
  },
  rateLimitLoginPerAddress: {
    variable: 'PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS',
    parse: parse.integer(1, 1_000_000_000),
    about: 'logins per 5 minutes from one address',
  },
  rateLimitApi: {
    variable: 'PORTICO_RATE_LIMIT_API',
    parse: parse.integer(1, 1_000_000_000),
    about: 'calls of one Organization to /api per minute, on all nodes together; more get 429',
  },
  callsInFlight: {
    variable: 'PORTICO_CALLS_IN_FLIGHT',
    parse: parse.integer(4, 100_000),
    about: 'concurrent calls of one Organization to /api in one process; more get 429',
  },
  smtpUrl: {
    variable: 'PORTICO_SMTP_URL',
    parse: parse.smtpUrl,
    about: 'mail server for invitations, password resets and alerts; unset: the operator passes links on',
  },
  mailFrom: {
    variable: 'PORTICO_MAIL_FROM',
    parse: parse.emailAddress,
    about: 'sender address of emails',
  },
  shutdownLimitMs: {
    variable: 'PORTICO_SHUTDOWN_LIMIT',
    parse: parse.durationMs(1_000, 600_000),
    about: 'maximum duration of a shutdown',
  },
  retryMaxDelayMs: {
    variable: 'PORTICO_RETRY_MAX_DELAY',
    parse: parse.durationMs(1_000, 24 * 3_600_000),
    about: 'delay before the fifth and later attempts of a webhook delivery, and the longest Retry-After',
  },
  simulatorDelayMs: {
    variable: 'PORTICO_SIMULATOR_DELAY',
    parse: parse.durationMs(0, 3_600_000),
    about: 'time that a simulated sandbox object stays in each state',
  },
  retentionDays: {
    variable: 'PORTICO_RETENTION_DAYS',
    parse: parse.integer(8, 3_650),
    about: 'days that events and deliveries are kept',
  },
  auditRetentionDays: {
    variable: 'PORTICO_AUDIT_RETENTION_DAYS',
    parse: parse.integer(30, 36_500),
    about: 'days that audit records are kept',
  },
  maxUploadBytes: {
    variable: 'PORTICO_MAX_UPLOAD_BYTES',
    parse: parse.integer(1, 1_024 * GIBIBYTE),
    about: 'maximum file size by upload URL',
  },
  maxBodyBytesInFlight: {
    variable: 'PORTICO_MAX_BODY_BYTES_IN_FLIGHT',
    parse: parse.integer(64 * MEBIBYTE, 1_024 * GIBIBYTE),
    about:
      'request body bytes that one process holds at once; a quarter of it for the inline files of one Organization',
  },
  maxPendingFiles: {
    variable: 'PORTICO_MAX_PENDING_FILES',
    parse: parse.integer(1, 100_000),
    about: 'maximum number of unfinished files of one Organization',
  },
  maxPendingBytes: {
    variable: 'PORTICO_MAX_PENDING_BYTES',
    parse: parse.integer(1, 500 * 1_024 * GIBIBYTE),
    about: 'maximum bytes of one Organization that are being uploaded or waiting for inspection',
  },
  minFreeDiskBytes: {
    variable: 'PORTICO_MIN_FREE_DISK_BYTES',
    parse: parse.integer(0, 500 * 1_024 * GIBIBYTE),
    about: 'free disk space below which uploads are rejected',
  },
  clamd: {
    variable: 'PORTICO_CLAMD',
    parse: parse.socketAddress,
    about: 'clamd that scans files: host:port or a socket path',
  },
  s3Endpoint: {
    variable: 'PORTICO_S3_ENDPOINT',
    parse: parse.origin,
    about: 'S3-compatible store; unset: a folder',
  },
  s3Region: { variable: 'PORTICO_S3_REGION', parse: parse.text, about: 'region of the store' },
  s3Bucket: { variable: 'PORTICO_S3_BUCKET', parse: parse.text, about: 'bucket for files' },
  s3AccessKeyId: {
    variable: 'PORTICO_S3_ACCESS_KEY_ID',
    parse: parse.text,
    about: 'access key of the store',
  },
  s3SecretAccessKey: {
    variable: 'PORTICO_S3_SECRET_ACCESS_KEY',
    parse: parse.secret,
    about: 'secret key of the store',
  },
  logLevel: {
    variable: 'PORTICO_LOG_LEVEL',
    parse: parse.oneOf(...LOG_LEVELS),
    about: 'least severe message that is logged',
  },
} as const satisfies Record<string, Setting>;

type Setting = { variable: `PORTICO_${string}`; parse: parse.Parse<unknown>; about: string };
export type SettingName = keyof typeof settings;
export type GivenSettings = { [Name in SettingName]?: ReturnType<(typeof settings)[Name]['parse']> };
