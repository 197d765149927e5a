import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { Secret } from '../runtime/secret.ts';
import { StartupError } from '../runtime/startup-error.ts';
import { type Environment, readConfig } from './config.ts';
import { settings } from './settings.ts';

const KEY = 'c4'.repeat(32);
const TOKEN = 'an-operator-token-of-enough-characters';
const SHARED = {
  PORTICO_DATABASE_URL: 'postgresql://portico:s3cr3t-pa55@db.internal:5432/portico',
  PORTICO_MASTER_KEY: KEY,
  PORTICO_OPERATOR_TOKEN: TOKEN,
};

const S3 = {
  PORTICO_S3_ENDPOINT: 'https://s3.example.com',
  PORTICO_S3_BUCKET: 'files',
  PORTICO_S3_ACCESS_KEY_ID: 'AKIA',
  PORTICO_S3_SECRET_ACCESS_KEY: 'the-key-of-the-store',
};

function problemsOf(environment: Environment): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof StartupError);
    return error.message;
  }
  assert.fail(`accepted ${JSON.stringify(environment)}`);
}

test('without any variable it is the embedded demo on localhost', () => {
  const config = readConfig({});
  assert.deepEqual(
    [config.host, config.port, config.baseUrl, config.dataDir, config.demo],
    ['127.0.0.1', 4000, 'http://localhost:4000', resolve('data'), true],
  );
  assert.deepEqual(
    [config.sandboxAuthUrl, config.productionAuthUrl, config.uploadUrl],
    ['http://localhost:4000', 'http://production.localhost:4000', 'http://localhost:4000'],
  );
  assert.deepEqual([config.allowlistPolicy, config.webhookAllowPrivate], ['optional', true]);
  assert.deepEqual(
    [config.databaseUrl, config.masterKeys, config.operatorToken],
    [undefined, undefined, undefined],
  );
  assert.deepEqual([config.trustedProxies, config.logLevel], [[], 'info']);
});

test('an upload limit above 5 GiB is refused with an S3 store, which cannot take such an upload', () => {
  const limit = (bytes: number) => ({ PORTICO_MAX_UPLOAD_BYTES: String(bytes) });
  const most = 5 * 1024 ** 3;
  assert.equal(readConfig({ ...S3, ...limit(most) }).maxUploadBytes, most);
  assert.match(
    problemsOf({ ...S3, ...limit(most + 1) }),
    /PORTICO_MAX_UPLOAD_BYTES must be at most 5368709120/,
  );
  assert.equal(readConfig(limit(most + 1)).maxUploadBytes, most + 1);
});

test('a value that is not valid is one problem, and is not reported as missing too', () => {
  for (const [variable, value, others] of [
    ['PORTICO_MASTER_KEY', 'ab', SHARED],
    ['PORTICO_OPERATOR_TOKEN', 'short', SHARED],
    [
      'PORTICO_DATABASE_URL',
      'mysql://db',
      { ...SHARED, PORTICO_MIGRATION_DATABASE_URL: SHARED.PORTICO_DATABASE_URL },
    ],
    ['PORTICO_SMTP_URL', 'mail.example', { PORTICO_MAIL_FROM: 'portico@example.com' }],
    ['PORTICO_S3_ENDPOINT', 's3.example', S3],
    ['PORTICO_OPERATOR_PORT', 'next', { PORTICO_OPERATOR_HOST: '127.0.0.1' }],
  ] as const)
    assert.match(
      problemsOf({ ...others, [variable]: value }),
      new RegExp(`^Invalid settings: ${variable} must .+\\.$`),
    );
});

test('every wrong entry of a list is named', () => {
  assert.match(problemsOf({ PORTICO_TRUSTED_PROXIES: '10.0.0.1/8,192.0.2.1,x' }), /not 10\.0\.0\.1\/8, x\.$/);
});

test('with a shared database, the demo defaults are off', () => {
  const { demo, allowlistPolicy, webhookAllowPrivate } = readConfig(SHARED);
  assert.deepEqual([demo, allowlistPolicy, webhookAllowPrivate], [false, 'required', false]);
  assert.equal(readConfig({ ...SHARED, PORTICO_DEMO: 'true' }).allowlistPolicy, 'required');
  assert.equal(readConfig({ PORTICO_DEMO: 'false' }).allowlistPolicy, 'required');
});

test('an address reachable from other machines disables the local defaults, with a reason', () => {
  for (const [name, value] of [
    ['PORTICO_HOST', '0.0.0.0'],
    ['PORTICO_HOST', '::'],
    ['PORTICO_HOST', '192.168.1.5'],
    ['PORTICO_HOST', 'machine.internal'],
    ['PORTICO_BASE_URL', 'https://api.example.com'],
    ['PORTICO_BASE_URL', 'http://localhost.example.com'],
    ['PORTICO_OPERATOR_HOST', '0.0.0.0'],
    ['PORTICO_OPERATOR_HOST', '10.0.0.5'],
  ] as const) {
    const { demo, allowlistPolicy, webhookAllowPrivate, exposure } = readConfig({ [name]: value });
    assert.deepEqual([demo, allowlistPolicy, webhookAllowPrivate], [false, 'required', false], value);
    assert.deepEqual([exposure?.exposedBy, exposure?.unsafe], [[`${name}=${value}`], []]);
    const off = exposure?.off.join('; ') ?? '';
    for (const what of ['PORTICO_DEMO', 'PORTICO_ALLOWLIST_POLICY', 'PORTICO_WEBHOOK_ALLOW_PRIVATE', 'links'])
      assert.ok(off.includes(what), `${what} in ${off}`);
  }
});

test('every spelling of loopback is local', () => {
  for (const host of [
    '127.0.0.1',
    '127.1.2.3',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
    'localhost',
    'LOCALHOST',
  ]) {
    const { demo, exposure } = readConfig({ PORTICO_HOST: host });
    assert.deepEqual([demo, exposure], [true, undefined], host);
  }
  for (const base of ['http://127.0.0.1:4000', 'http://[::1]:4000', 'https://api.localhost'])
    assert.equal(readConfig({ PORTICO_BASE_URL: base }).exposure, undefined, base);
});

test('an explicit setting applies on a reachable address and is reported as unsafe', () => {
  const { demo, allowlistPolicy, webhookAllowPrivate, exposure } = readConfig({
    ...{ PORTICO_HOST: '0.0.0.0', PORTICO_DEMO: 'true' },
  });
  assert.deepEqual([demo, allowlistPolicy, webhookAllowPrivate], [true, 'required', false]);
  assert.deepEqual(exposure?.unsafe, ['PORTICO_DEMO=true']);
  const shared = readConfig({
    ...SHARED,
    ...{ PORTICO_HOST: '0.0.0.0', PORTICO_ALLOWLIST_POLICY: 'optional' },
    PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true',
  });
  assert.deepEqual(shared.exposure?.off, []);
  assert.deepEqual(shared.exposure?.unsafe, [
    'PORTICO_ALLOWLIST_POLICY=optional',
    'PORTICO_WEBHOOK_ALLOW_PRIVATE=true',
  ]);
});

test('the operator has its own loopback listener, except by default on a local installation', () => {
  const operatorOf = (environment: Environment) => {
    const { operatorHost, operatorPort, operatorUrl } = readConfig(environment);
    return [operatorHost, operatorPort, operatorUrl];
  };
  assert.deepEqual(operatorOf({}), ['127.0.0.1', undefined, 'http://localhost:4000']);
  assert.deepEqual(operatorOf({ PORTICO_OPERATOR_PORT: '9000' }), [
    '127.0.0.1',
    9000,
    'http://127.0.0.1:9000',
  ]);
  for (const environment of [
    SHARED,
    { PORTICO_HOST: '0.0.0.0' },
    { PORTICO_BASE_URL: 'https://api.example.com' },
  ])
    assert.deepEqual(operatorOf(environment), ['127.0.0.1', 4001, 'http://127.0.0.1:4001']);
  const wildcard = { ...SHARED, PORTICO_OPERATOR_HOST: '::', PORTICO_PORT: '8000' };
  assert.deepEqual(operatorOf(wildcard), ['::', 8001, 'http://[::1]:8001']);
  const reachable = { PORTICO_OPERATOR_HOST: '10.0.0.5' };
  assert.deepEqual(operatorOf(reachable), ['10.0.0.5', 4001, 'http://10.0.0.5:4001']);
  const loopback = { PORTICO_OPERATOR_HOST: '::1' };
  assert.match(
    problemsOf(loopback),
    /PORTICO_OPERATOR_PORT is required with a loopback PORTICO_OPERATOR_HOST/,
  );
  assert.deepEqual(operatorOf({ ...loopback, PORTICO_OPERATOR_PORT: '9000' }), [
    ...['::1', 9000, 'http://[::1]:9000'],
  ]);
  assert.match(problemsOf({ PORTICO_OPERATOR_PORT: '4000' }), /PORTICO_OPERATOR_PORT must differ/);
  assert.match(problemsOf({ ...SHARED, PORTICO_PORT: '65535' }), /PORTICO_OPERATOR_PORT is required/);
});

test('the default URLs follow the port and the base URL', () => {
  assert.equal(readConfig({ PORTICO_PORT: '8080' }).baseUrl, 'http://localhost:8080');
  const { sandboxAuthUrl, productionAuthUrl } = readConfig({ PORTICO_BASE_URL: 'https://api.example.com/' });
  assert.deepEqual(
    [sandboxAuthUrl, productionAuthUrl],
    ['https://api.example.com', 'https://production.api.example.com'],
  );
});

test('an empty or blank variable counts as unset', () => {
  assert.equal(readConfig({ PORTICO_PORT: '', PORTICO_HOST: '  ' }).port, 4000);
  assert.equal(readConfig({ PORTICO_PORT: ' 5000 ' }).port, 5000);
});

test('the configuration is frozen', () => {
  const config = readConfig({ ...SHARED, PORTICO_TRUSTED_PROXIES: '10.0.0.0/8' });
  assert.ok([config, config.trustedProxies, config.masterKeys].every(Object.isFrozen));
  assert.throws(() => Object.assign(config, { port: 1 }), TypeError);
});

test('all problems are reported at once, each with its variable', () => {
  const message = problemsOf({
    PORTICO_PORT: '70000',
    PORTICO_DEMO: 'yes',
    PORTICO_BASE_URL: 'localhost',
    PORTICO_TRUSTED_PROXIES: '10.0.0.0/8, nonsense',
    PORTICO_RETRY_MAX_DELAY: '10',
    PORTICO_PROT: '4000',
    PORTICO_S3_ENDPOINT: 'https://s3.example.com',
  });
  for (const variable of [
    'PORTICO_PORT must be a whole number from 0 to 65535',
    'PORTICO_DEMO must be true or false',
    'PORTICO_BASE_URL must be an http or https URL',
    'not nonsense',
    'PORTICO_RETRY_MAX_DELAY must be a duration',
    'PORTICO_PROT is not a setting',
    'PORTICO_S3_BUCKET is required',
    'PORTICO_S3_ACCESS_KEY_ID is required',
    'PORTICO_S3_SECRET_ACCESS_KEY is required',
  ])
    assert.ok(message.includes(variable), `${variable} in ${message}`);
});

test('variables without the PORTICO_ prefix are ignored', () => {
  assert.equal(readConfig({ PATH: '/bin', PORT: '1', portico_port: '2' }).port, 4000);
  assert.match(problemsOf({ PORTICO_UNHEARD_OF: '' }), /PORTICO_UNHEARD_OF is not a setting/);
});

test('a shared database requires both secrets', () => {
  const message = problemsOf({ PORTICO_DATABASE_URL: SHARED.PORTICO_DATABASE_URL });
  assert.match(message, /PORTICO_MASTER_KEY is required/);
  assert.match(message, /PORTICO_OPERATOR_TOKEN is required/);
});

test('the S3 settings are required together; only the region has a default', () => {
  assert.equal(readConfig(S3).s3Region, 'us-east-1');
  const required = Object.keys(S3);
  for (const given of required) {
    const message = problemsOf({ [given]: S3[given as keyof typeof S3] });
    for (const other of required.filter((name) => name !== given))
      assert.match(message, new RegExp(`${other} is required`));
  }
  assert.equal(readConfig({ PORTICO_S3_REGION: 'eu-central-1' }).s3Endpoint, undefined);
});

test('the two token issuers must differ', () => {
  const same = 'https://auth.example.com';
  assert.match(
    problemsOf({ PORTICO_SANDBOX_AUTH_URL: same, PORTICO_PRODUCTION_AUTH_URL: `${same}:443/` }),
    /must differ/,
  );
});

test('a base URL with an IP address leaves both issuers usable', () => {
  for (const base of ['http://192.168.1.5:4000', 'http://[::1]:4000']) {
    const { sandboxAuthUrl, productionAuthUrl } = readConfig({ PORTICO_BASE_URL: base });
    assert.deepEqual([sandboxAuthUrl, productionAuthUrl], [base, 'http://production.localhost:4000']);
  }
});

test('an invalid secret is rejected without showing it', () => {
  const message = problemsOf({
    PORTICO_MASTER_KEY: `${KEY},deadbeef`,
    PORTICO_OPERATOR_TOKEN: 'too-short-a-token',
    PORTICO_DATABASE_URL: 'mysql://portico:s3cr3t-pa55@db/portico',
  });
  assert.doesNotMatch(message, /deadbeef|c4c4|too-short|s3cr3t/);
  for (const variable of ['PORTICO_MASTER_KEY', 'PORTICO_OPERATOR_TOKEN', 'PORTICO_DATABASE_URL'])
    assert.ok(message.includes(variable));
});

test('secrets have the type that does not print', () => {
  const config = readConfig({ ...SHARED, ...S3 });
  const secrets = [
    config.databaseUrl,
    config.operatorToken,
    config.s3SecretAccessKey,
    config.masterKeys?.[0],
  ];
  assert.ok(secrets.every((secret) => secret instanceof Secret));
  assert.doesNotMatch(JSON.stringify(config), /s3cr3t|c4c4|operator-token|of-the-store/);
});

test('every setting has a description and its own variable', () => {
  const all = Object.values(settings);
  assert.ok(all.every(({ about }) => about.length > 5));
  assert.equal(new Set(all.map(({ variable }) => variable)).size, all.length);
});
