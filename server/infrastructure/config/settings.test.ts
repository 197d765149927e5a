import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { Secret } from '../runtime/secret.ts';
import { readConfig } from './config.ts';
import { type SettingName, settings } from './settings.ts';

/** For each setting a value other than its default, and the parsed value. A new setting gets a line here. */
const EXAMPLES: Record<SettingName, readonly [text: string, value: unknown]> = {
  host: ['0.0.0.0', '0.0.0.0'],
  port: ['8443', 8443],
  operatorHost: ['10.0.0.5', '10.0.0.5'],
  operatorPort: ['9000', 9000],
  operatorUrl: ['https://operator.example.com/', 'https://operator.example.com'],
  metricsPort: ['9464', 9464],
  baseUrl: ['https://API.example.com/', 'https://api.example.com'],
  sandboxAuthUrl: ['https://sandbox.example.com', 'https://sandbox.example.com'],
  productionAuthUrl: ['https://auth.example.com:8443', 'https://auth.example.com:8443'],
  uploadUrl: ['https://upload.example.com', 'https://upload.example.com'],
  dataDir: ['some/where', resolve('some/where')],
  databaseUrl: ['postgres://u:p@db/portico', ['postgres://u:p@db/portico']],
  migrationDatabaseUrl: ['postgres://o:p@db/portico', ['postgres://o:p@db/portico']],
  databaseConnections: ['50', 50],
  masterKeys: [`${'AB'.repeat(32)}, ${'cd'.repeat(32)}`, ['AB'.repeat(32), 'cd'.repeat(32)]],
  operatorToken: ['t'.repeat(32), ['t'.repeat(32)]],
  transferKey: ['k'.repeat(32), ['k'.repeat(32)]],
  trustedProxies: ['10.0.0.0/8 2001:db8::/32,192.0.2.1', ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']],
  supportEmail: ['help@example.com', 'help@example.com'],
  demo: ['true', true],
  allowlistPolicy: ['optional', 'optional'],
  allowlistMinPrefix: ['24', 24],
  webhookAllowPrivate: ['true', true],
  rateLimitTokenPerClient: ['7', 7],
  rateLimitTokenPerAddress: ['8', 8],
  rateLimitCustomerToken: ['9', 9],
  rateLimitLoginPerEmail: ['10', 10],
  rateLimitLoginPerAddress: ['11', 11],
  rateLimitApi: ['12', 12],
  callsInFlight: ['13', 13],
  auditRetentionDays: ['365', 365],
  smtpUrl: ['smtps://u:p@mail.example', ['smtps://u:p@mail.example']],
  mailFrom: ['portico@example.com', 'portico@example.com'],
  shutdownLimitMs: ['10s', 10_000],
  retryMaxDelayMs: ['90s', 90_000],
  simulatorDelayMs: ['250ms', 250],
  retentionDays: ['365', 365],
  maxUploadBytes: ['1048576', 1_048_576],
  maxBodyBytesInFlight: ['67108864', 67_108_864],
  maxPendingFiles: ['50', 50],
  maxPendingBytes: ['2097152', 2_097_152],
  minFreeDiskBytes: ['0', 0],
  clamd: ['clamd:3310', 'clamd:3310'],
  s3Endpoint: ['https://s3.example.com', 'https://s3.example.com'],
  s3Region: ['eu-central-1', 'eu-central-1'],
  s3Bucket: ['files', 'files'],
  s3AccessKeyId: ['AKIA', 'AKIA'],
  s3SecretAccessKey: ['shh', ['shh']],
  logLevel: ['warn', 'warn'],
};

const REFUSED: Partial<Record<SettingName, readonly string[]>> = {
  port: ['-1', '65536', '80.5', '0x50', '1e3', 'http'],
  operatorPort: ['-1', '65536'],
  operatorUrl: ['operator.example.com', 'https://x/path'],
  metricsPort: ['-1', '65536'],
  baseUrl: ['example.com', 'ftp://x', 'https://x/path', 'https://x?q', 'https://u:p@x', 'https://x#f'],
  databaseUrl: ['mysql://x', 'not a url'],
  migrationDatabaseUrl: ['mysql://x'],
  databaseConnections: ['4', '1001'],
  masterKeys: ['ab', 'zz'.repeat(32), ','],
  operatorToken: ['t'.repeat(31), 't'.repeat(513), `${'t'.repeat(32)} t`, `${'t'.repeat(32)}é`],
  transferKey: ['k'.repeat(31), `${'k'.repeat(32)}€`],
  trustedProxies: ['10.0.0.1/8', '10.0.0', 'proxy.example.com'],
  supportEmail: ['help', '@', 'a b@c'],
  demo: ['TRUE', '1', 'yes'],
  allowlistPolicy: ['Required', 'none'],
  allowlistMinPrefix: ['-1', '33', '/16'],
  smtpUrl: ['mail.example', 'http://mail.example', 'smtp:'],
  mailFrom: ['portico'],
  shutdownLimitMs: ['0s', '11m', '20'],
  retryMaxDelayMs: ['0s', '25h', '10', '-1s', '1d', '1.5m'],
  simulatorDelayMs: ['0', '61m', '-1s', 'soon'],
  retentionDays: ['7', '3651'],
  maxUploadBytes: ['0', '10MB'],
  maxBodyBytesInFlight: ['1048576', '64MB'],
  maxPendingFiles: ['0', '100001'],
  maxPendingBytes: ['0', '1048575'],
  minFreeDiskBytes: ['-1', '1GB'],
  clamd: [
    'clamd',
    'clamd:',
    ':3310',
    'clamd:0',
    'clamd:65536',
    'a:b',
    'http://clamd:3310',
    '::1:3310',
    'clamd.sock',
  ],
  logLevel: ['verbose', 'trace'],
};

const everything = Object.fromEntries(
  Object.entries(EXAMPLES).map(([name, [text]]) => [settings[name as SettingName].variable, text]),
);
const config = readConfig(everything);

test('every variable is read', () => {
  assert.deepEqual(Object.keys(EXAMPLES).sort(), Object.keys(settings).sort());
  for (const [name, [, value]] of Object.entries(EXAMPLES))
    assert.deepEqual(revealed(config[name as SettingName]), value, name);
});

test('no example is a default, so each one proves that its variable is read', () => {
  const defaults = readConfig({
    PORTICO_DATABASE_URL: 'postgresql://db/portico',
    PORTICO_MASTER_KEY: '00'.repeat(32),
    PORTICO_OPERATOR_TOKEN: 'o'.repeat(32),
  });
  for (const [name, [, value]] of Object.entries(EXAMPLES))
    assert.notDeepEqual(revealed(defaults[name as SettingName]), value, name);
});

for (const [name, values] of Object.entries(REFUSED)) {
  const { variable } = settings[name as SettingName];
  test(`${variable} rejects invalid values`, () => {
    for (const value of values)
      assert.throws(() => readConfig({ ...everything, [variable]: value }), new RegExp(variable), value);
  });
}

test('PORTICO_CLAMD is a host with a port, or the path of a socket', () => {
  for (const clamd of ['localhost:3310', '127.0.0.1:3310', '[::1]:65535', '/run/clamd.sock'])
    assert.equal(readConfig({ PORTICO_CLAMD: clamd }).clamd, clamd);
});

/** Secrets become lists of their values, so that a secret is never mistaken for plain text. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return [value.reveal()];
  if (Array.isArray(value)) return value.map((entry) => (entry instanceof Secret ? entry.reveal() : entry));
  return value;
}
