import { resolve } from 'node:path';
import type { Secret } from '../runtime/secret.ts';
import { StartupError } from '../runtime/startup-error.ts';
import { type GivenSettings, type SettingName, settings } from './settings.ts';

/** `PORTICO_*` → one frozen, typed object. Parsed once; every problem is told at once. */
export type Config = ReturnType<typeof withDefaults>;
export type Environment = Readonly<Record<string, string | undefined>>;

export const DEFAULT_PORT = 4000;

export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const given = parseGiven(environment, problems);
  const config = withDefaults(given);
  problems.push(...unknownVariables(environment), ...contradictions(config, given));
  if (problems.length > 0) throw new StartupError(describe(problems));
  return Object.freeze(config);
}

function parseGiven(environment: Environment, problems: string[]): GivenSettings {
  const given: Record<string, unknown> = {};
  for (const [name, { variable, parse }] of Object.entries(settings)) {
    const value = environment[variable]?.trim();
    if (value === undefined || value === '') continue;
    try {
      given[name] = parse(value);
    } catch (error) {
      problems.push(`${variable} ${(error as Error).message}`);
    }
  }
  return given as GivenSettings;
}

function withDefaults(given: GivenSettings) {
  const port = given.port ?? DEFAULT_PORT;
  const baseUrl = given.baseUrl ?? `http://localhost:${port}`;
  const embedded = given.databaseUrl === undefined;
  const demo = given.demo ?? embedded;
  return {
    host: given.host ?? '127.0.0.1',
    port,
    metricsPort: given.metricsPort,
    baseUrl,
    sandboxAuthUrl: given.sandboxAuthUrl ?? baseUrl,
    productionAuthUrl: given.productionAuthUrl ?? withSubdomain('production', baseUrl),
    uploadUrl: given.uploadUrl ?? baseUrl,
    dataDir: resolve(given.dataDir ?? 'data'),
    databaseUrl: given.databaseUrl,
    migrationDatabaseUrl: given.migrationDatabaseUrl,
    databaseConnections: given.databaseConnections ?? 20,
    /** Unset on the embedded default: generated once into the data folder (`config/generated-secrets.ts`). */
    masterKeys: given.masterKeys as readonly Secret[] | undefined,
    operatorToken: given.operatorToken,
    trustedProxies: given.trustedProxies ?? [],
    supportEmail: given.supportEmail ?? 'support@portico.example',
    demo,
    allowlistPolicy: given.allowlistPolicy ?? (embedded && demo ? 'optional' : 'required'),
    webhookAllowPrivate: given.webhookAllowPrivate ?? (embedded && demo),
    rateLimitTokenPerClient: given.rateLimitTokenPerClient ?? 100,
    rateLimitTokenPerAddress: given.rateLimitTokenPerAddress ?? 300,
    rateLimitCustomerToken: given.rateLimitCustomerToken ?? 200,
    rateLimitLoginPerEmail: given.rateLimitLoginPerEmail ?? 20,
    rateLimitLoginPerAddress: given.rateLimitLoginPerAddress ?? 100,
    smtpUrl: given.smtpUrl,
    mailFrom: given.mailFrom,
    shutdownLimitMs: given.shutdownLimitMs ?? 20_000,
    retryMaxDelayMs: given.retryMaxDelayMs ?? 600_000,
    simulatorDelayMs: given.simulatorDelayMs ?? 1_000,
    retentionDays: given.retentionDays ?? 30,
    maxUploadBytes: given.maxUploadBytes ?? 1024 ** 3,
    clamd: given.clamd,
    s3Endpoint: given.s3Endpoint,
    s3Region: given.s3Region ?? 'us-east-1',
    s3Bucket: given.s3Bucket,
    s3AccessKeyId: given.s3AccessKeyId,
    s3SecretAccessKey: given.s3SecretAccessKey,
    logLevel: given.logLevel ?? 'info',
  } satisfies Record<SettingName, unknown>;
}

const S3_TOGETHER = ['s3Endpoint', 's3Bucket', 's3AccessKeyId', 's3SecretAccessKey'] as const;

function contradictions(config: Config, given: GivenSettings): string[] {
  const problems: string[] = [];
  // The scheme does not tell them apart: a request says only its Host.
  if (new URL(config.sandboxAuthUrl).host === new URL(config.productionAuthUrl).host)
    problems.push(
      'PORTICO_SANDBOX_AUTH_URL and PORTICO_PRODUCTION_AUTH_URL must differ: the address selects the environment',
    );
  if (given.migrationDatabaseUrl !== undefined && given.databaseUrl === undefined)
    problems.push('PORTICO_DATABASE_URL is required with PORTICO_MIGRATION_DATABASE_URL');
  if (given.databaseUrl !== undefined) {
    if (!given.masterKeys) problems.push('PORTICO_MASTER_KEY is required with PORTICO_DATABASE_URL');
    if (!given.operatorToken) problems.push('PORTICO_OPERATOR_TOKEN is required with PORTICO_DATABASE_URL');
  }
  if ((given.smtpUrl === undefined) !== (given.mailFrom === undefined))
    problems.push('PORTICO_SMTP_URL and PORTICO_MAIL_FROM are of use only together');
  // With some of them files would end up in the folder, though somebody meant them for the store.
  const missing = S3_TOGETHER.filter((name) => given[name] === undefined);
  if (missing.length < S3_TOGETHER.length)
    for (const name of missing)
      problems.push(`${settings[name].variable} is required with the other settings of the store`);
  return problems;
}

/** A misspelt setting would otherwise be ignored without a word. */
function unknownVariables(environment: Environment): string[] {
  const known = new Set<string>(Object.values(settings).map((setting) => setting.variable));
  return Object.keys(environment)
    .filter((variable) => variable.startsWith('PORTICO_') && !known.has(variable))
    .map((variable) => `${variable} is not a setting; portico config lists them all`);
}

function describe(problems: readonly string[]): string {
  const [first] = problems;
  if (problems.length === 1) return `The settings are not right: ${first}.`;
  return `The settings are not right:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`;
}

/** An IP address has no subdomains: then the name is one that resolves on this machine alone. */
function withSubdomain(subdomain: string, address: string): string {
  const url = new URL(address);
  const isAddress = /^[\d.]+$|^\[/.test(url.hostname);
  url.hostname = `${subdomain}.${isAddress ? 'localhost' : url.hostname}`;
  return url.origin;
}
