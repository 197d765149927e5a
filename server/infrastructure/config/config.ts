import { resolve } from 'node:path';
import type { Secret } from '../runtime/secret.ts';
import { StartupError } from '../runtime/startup-error.ts';
import { type Exposure, exposureOf } from './exposure.ts';
import { type GivenSettings, type SettingName, settings } from './settings.ts';

/** Parses `PORTICO_*` once into one frozen, typed object, and reports all problems at once. */
export type Config = ReturnType<typeof withDefaults> & {
  /** Undefined while only this machine can reach the service. */
  readonly exposure: Exposure | undefined;
};
export type Environment = Readonly<Record<string, string | undefined>>;

export const DEFAULT_PORT = 4000;
export const DEFAULT_DATA_DIR = 'data';
const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;
const GIBIBYTE = 1024 ** 3;
/** The largest object that an S3 store takes in one PUT and copies in one request. */
const MAX_S3_UPLOAD_BYTES = 5 * GIBIBYTE;

export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const given = parseGiven(environment, problems);
  const exposure = exposureOf(given, addressesOf(given));
  const config = { ...withDefaults(given, exposure), exposure };
  const isSet = (name: SettingName) => textOf(environment, name) !== undefined;
  problems.push(...unknownVariables(environment), ...contradictions(config, isSet));
  if (problems.length > 0) throw new StartupError(describe(problems));
  return Object.freeze(config);
}

function parseGiven(environment: Environment, problems: string[]): GivenSettings {
  const given: Record<string, unknown> = {};
  for (const [name, { variable, parse }] of Object.entries(settings)) {
    const text = textOf(environment, name as SettingName);
    if (text === undefined) continue;
    try {
      given[name] = parse(text);
    } catch (error) {
      problems.push(`${variable} ${(error as Error).message}`);
    }
  }
  return given as GivenSettings;
}

/** An empty value counts as unset. */
function textOf(environment: Environment, name: SettingName): string | undefined {
  return environment[settings[name].variable]?.trim() || undefined;
}

function addressesOf(given: GivenSettings) {
  const port = given.port ?? DEFAULT_PORT;
  return {
    host: given.host ?? LOOPBACK,
    operatorHost: given.operatorHost ?? LOOPBACK,
    port,
    baseUrl: given.baseUrl ?? `http://localhost:${port}`,
    embedded: given.databaseUrl === undefined,
  };
}

function withDefaults(given: GivenSettings, exposure: Exposure | undefined) {
  const { host, operatorHost, port, baseUrl, embedded } = addressesOf(given);
  const local = embedded && exposure === undefined;
  const demo = given.demo ?? local;
  const maxUploadBytes = given.maxUploadBytes ?? GIBIBYTE;
  const operatorPort = given.operatorPort ?? (local ? undefined : portAfter(port));
  return {
    host,
    port,
    operatorHost,
    /** Undefined by default on a local installation, where the main port serves the operator. */
    operatorPort,
    operatorUrl: given.operatorUrl ?? operatorUrlOf(operatorHost, operatorPort) ?? baseUrl,
    metricsPort: given.metricsPort,
    baseUrl,
    sandboxAuthUrl: given.sandboxAuthUrl ?? baseUrl,
    productionAuthUrl: given.productionAuthUrl ?? withSubdomain('production', baseUrl),
    uploadUrl: given.uploadUrl ?? baseUrl,
    dataDir: resolve(given.dataDir ?? DEFAULT_DATA_DIR),
    databaseUrl: given.databaseUrl,
    migrationDatabaseUrl: given.migrationDatabaseUrl,
    databaseConnections: given.databaseConnections ?? 20,
    /**
     * Unset on an embedded installation: generated once into the data folder
     * (`infrastructure/config/generated-secrets.ts`).
     */
    masterKeys: given.masterKeys as readonly Secret[] | undefined,
    operatorToken: given.operatorToken,
    transferKey: given.transferKey,
    trustedProxies: given.trustedProxies ?? [],
    supportEmail: given.supportEmail ?? 'support@portico.example',
    demo,
    allowlistPolicy: given.allowlistPolicy ?? (local && demo ? 'optional' : 'required'),
    allowlistMinPrefix: given.allowlistMinPrefix ?? 16,
    webhookAllowPrivate: given.webhookAllowPrivate ?? (local && demo),
    rateLimitTokenPerClient: given.rateLimitTokenPerClient ?? 100,
    rateLimitTokenPerAddress: given.rateLimitTokenPerAddress ?? 300,
    rateLimitCustomerToken: given.rateLimitCustomerToken ?? 200,
    rateLimitLoginPerEmail: given.rateLimitLoginPerEmail ?? 20,
    rateLimitLoginPerAddress: given.rateLimitLoginPerAddress ?? 100,
    rateLimitApi: given.rateLimitApi ?? 30_000,
    callsInFlight: given.callsInFlight ?? 200,
    smtpUrl: given.smtpUrl,
    mailFrom: given.mailFrom,
    shutdownLimitMs: given.shutdownLimitMs ?? 20_000,
    retryMaxDelayMs: given.retryMaxDelayMs ?? 600_000,
    simulatorDelayMs: given.simulatorDelayMs ?? 1_000,
    retentionDays: given.retentionDays ?? 30,
    auditRetentionDays: given.auditRetentionDays ?? 400,
    maxUploadBytes,
    maxBodyBytesInFlight: given.maxBodyBytesInFlight ?? 256 * 1024 ** 2,
    maxPendingFiles: given.maxPendingFiles ?? 1_000,
    maxPendingBytes: given.maxPendingBytes ?? Math.max(100 * GIBIBYTE, maxUploadBytes),
    minFreeDiskBytes: given.minFreeDiskBytes ?? GIBIBYTE,
    clamd: given.clamd,
    s3Endpoint: given.s3Endpoint,
    s3Region: given.s3Region ?? 'us-east-1',
    s3Bucket: given.s3Bucket,
    s3AccessKeyId: given.s3AccessKeyId,
    s3SecretAccessKey: given.s3SecretAccessKey,
    logLevel: given.logLevel ?? 'info',
  } satisfies Record<SettingName, unknown>;
}

/** 0 means any free port, for the operator's listener as well. */
function portAfter(port: number): number {
  return port === 0 ? 0 : port + 1;
}

/** The operator's listener as this machine reaches it. A wildcard address is no destination. */
function operatorUrlOf(host: string, port: number | undefined): string | undefined {
  if (port === undefined) return undefined;
  const destination = ({ '0.0.0.0': LOOPBACK, '::': '::1' } as Record<string, string>)[host] ?? host;
  return `http://${destination.includes(':') ? `[${destination}]` : destination}:${port}`;
}

const S3_TOGETHER = ['s3Endpoint', 's3Bucket', 's3AccessKeyId', 's3SecretAccessKey'] as const;

/** A setting that is not valid is set all the same, and has its own problem. */
function contradictions(config: Config, isSet: (name: SettingName) => boolean): string[] {
  const problems: string[] = [];
  // The scheme does not distinguish them: a request has only a Host.
  if (new URL(config.sandboxAuthUrl).host === new URL(config.productionAuthUrl).host)
    problems.push(
      'PORTICO_SANDBOX_AUTH_URL and PORTICO_PRODUCTION_AUTH_URL must differ: the host selects the environment',
    );
  if (config.operatorPort !== undefined && config.operatorPort > MAX_PORT)
    problems.push(`PORTICO_OPERATOR_PORT is required with PORTICO_PORT=${config.port}`);
  // By default on a local installation the main port serves the operator, so there is no listener for this host.
  if (isSet('operatorHost') && !isSet('operatorPort') && config.operatorPort === undefined)
    problems.push('PORTICO_OPERATOR_PORT is required with a loopback PORTICO_OPERATOR_HOST');
  if (config.operatorPort === config.port && config.port !== 0)
    problems.push('PORTICO_OPERATOR_PORT must differ from PORTICO_PORT');
  if (config.maxPendingBytes < config.maxUploadBytes)
    problems.push('PORTICO_MAX_PENDING_BYTES must be at least PORTICO_MAX_UPLOAD_BYTES');
  if (isSet('migrationDatabaseUrl') && !isSet('databaseUrl'))
    problems.push('PORTICO_DATABASE_URL is required with PORTICO_MIGRATION_DATABASE_URL');
  if (isSet('databaseUrl')) {
    if (!isSet('masterKeys')) problems.push('PORTICO_MASTER_KEY is required with PORTICO_DATABASE_URL');
    if (!isSet('operatorToken'))
      problems.push('PORTICO_OPERATOR_TOKEN is required with PORTICO_DATABASE_URL');
  }
  if (isSet('smtpUrl') !== isSet('mailFrom'))
    problems.push('PORTICO_SMTP_URL and PORTICO_MAIL_FROM must be set together');
  // With a part of them, files would silently be stored in the folder.
  const missing = S3_TOGETHER.filter((name) => !isSet(name));
  if (missing.length < S3_TOGETHER.length)
    for (const name of missing)
      problems.push(`${settings[name].variable} is required with the other S3 settings`);
  if (isSet('s3Endpoint') && config.maxUploadBytes > MAX_S3_UPLOAD_BYTES)
    problems.push(
      `PORTICO_MAX_UPLOAD_BYTES must be at most ${MAX_S3_UPLOAD_BYTES} (5 GiB) with PORTICO_S3_ENDPOINT`,
    );
  return problems;
}

/** A misspelt setting would otherwise be ignored silently. */
function unknownVariables(environment: Environment): string[] {
  const known = new Set<string>(Object.values(settings).map((setting) => setting.variable));
  return (
    Object.keys(environment)
      // Those of the partner's command line, which may be set in the same shell.
      .filter((variable) => /^PORTICO_(?!CLI_)/.test(variable) && !known.has(variable))
      .map((variable) => `${variable} is not a setting; portico config lists all settings`)
  );
}

function describe(problems: readonly string[]): string {
  const [first] = problems;
  if (problems.length === 1) return `Invalid settings: ${first}.`;
  return `Invalid settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`;
}

/** An IP address has no subdomains: the result is a name that resolves on this machine only. */
function withSubdomain(subdomain: string, address: string): string {
  const url = new URL(address);
  const isAddress = /^[\d.]+$|^\[/.test(url.hostname);
  url.hostname = `${subdomain}.${isAddress ? 'localhost' : url.hostname}`;
  return url.origin;
}
