import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createTestApp, OPERATOR_TOKEN } from '../../testing/app/app.ts';
import { type Environment, readConfig } from '../infrastructure/config/config.ts';
import { operator } from './operator.ts';

const app = await createTestApp();
const baseUrl = await app.server.listen({ port: 0, host: '127.0.0.1' });
const emptyDir = await mkdtemp(join(tmpdir(), 'portico-operator-'));
after(() => rm(emptyDir, { recursive: true }));

const PORTICO = join(import.meta.dirname, '..', '..', 'bin', 'portico.cjs');
const SETTINGS = { PORTICO_BASE_URL: baseUrl, PORTICO_DATA_DIR: emptyDir };
const WITH_TOKEN: Environment = { PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN };

type Run = { environment?: Environment; input?: string };

/** Runs the command as a person does, and asserts that the token is never printed. */
async function run(args: readonly string[], { environment = WITH_TOKEN, input = '' }: Run = {}) {
  const env = { ...SETTINGS, ...environment };
  const child = spawn(process.execPath, [PORTICO, 'operator', ...args], { env });
  child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  assert.ok(!`${out}${err}`.includes(OPERATOR_TOKEN), 'the token was printed');
  return { code, out, err };
}

async function answerOf(args: readonly string[], options?: Run): Promise<Record<string, unknown>> {
  const { code, out, err } = await run(args, options);
  assert.deepEqual({ code, err }, { code: 0, err: '' });
  const answer = JSON.parse(out);
  assert.equal(out, `${JSON.stringify(answer, null, 2)}\n`, 'the output is indented JSON and nothing else');
  return answer;
}

test('calls create, change, get and list like the HTTP API', async () => {
  const flags = ['--name', 'Acme', '--live', 'true', '--features', 'webhooks,files'];
  const created = await answerOf(['organizations', 'create', ...flags]);
  assert.deepEqual([created.name, created.live, created.features], ['Acme', true, ['webhooks', 'files']]);
  const guid = String(created.guid);
  assert.deepEqual(await answerOf(['organizations', 'get', guid]), created);

  const changed = await answerOf(['organizations', 'update', guid, '--json', '-', '--live', 'false'], {
    input: '{"name":"Acme Ltd","live":true}',
  });
  assert.deepEqual([changed.name, changed.live], ['Acme Ltd', false]);

  const environments = ['sandbox', 'sandbox', 'production'];
  const create = ['banks', 'create', guid, '--name', 'X', '--environment'];
  await Promise.all(environments.map((environment) => answerOf([...create, environment])));
  for (const perPage of ['--per-page', '--per_page']) {
    const list = await answerOf(['banks', 'list', guid, perPage, '2', '--environment', 'sandbox']);
    assert.deepEqual([list.total, list.per_page, (list.objects as unknown[]).length], [2, 2, 2]);
  }
  for (const words of ['audit_records', 'audit-records']) {
    const records = await answerOf([words, 'list', '--object-id', guid]);
    assert.equal(records.total, 2);
  }
});

test('a list with a further page tells how to get it', async () => {
  for (const name of ['One', 'Two']) await app.operate('POST', '/organizations', { name });
  const list = ['organizations', 'list', '--per-page', '1'];
  const { code, out, err } = await run(list);
  const { next } = JSON.parse(out);
  assert.deepEqual([code, err], [0, `More follow: repeat the call with --after ${next}\n`]);
  const following = JSON.parse((await run([...list, '--after', next])).out);
  assert.notEqual(following.objects[0].guid, JSON.parse(out).objects[0].guid);
});

test('an error response is printed to standard error, and the exit code is 1', async () => {
  const missing = await run(['organizations', 'create']);
  assert.deepEqual([missing.code, missing.out], [1, '']);
  assert.deepEqual(JSON.parse(missing.err), {
    error: 'bad_request',
    message_code: 'missing_parameter',
    message: 'name is required',
  });
  const absent = await run(['organizations', 'get', '0'.repeat(32)]);
  assert.deepEqual([absent.code, absent.out, JSON.parse(absent.err).error], [1, '', 'not_found']);
});

test('the help lists every route under /operator with its summary, aligned, and needs no token', async () => {
  const { code, out } = await run(['--help'], { environment: {} });
  assert.equal(code, 0);
  const { paths } = (await app.call({ url: '/operator/openapi.json' })).body as {
    paths: Record<string, Record<string, { 'x-command'?: string; summary: string }>>;
  };
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/operator/'))
    .flatMap(([, methods]) => Object.values(methods));
  assert.ok(operations.length >= 9);
  const listed = out.split('\n').filter((line) => line.startsWith('  '));
  assert.equal(listed.length, operations.length);
  const columns = operations.map(({ 'x-command': words = '', summary }) => {
    const line = listed.find((one) => one.startsWith(`  ${words} `) && one.endsWith(`  ${summary}`));
    assert.ok(line, `${words} is not listed`);
    return line.lastIndexOf(summary);
  });
  assert.equal(new Set(columns).size, 1);
  assert.equal((await run([])).out, out);
});

test('the help of a group lists its calls, and that of a call its arguments', async () => {
  const group = await run(['banks', '--help']);
  assert.match(group.out, /^ {2}banks create <organization-guid> /m);
  assert.doesNotMatch(group.out, /^ {2}organizations/m);
  assert.match((await run(['objects', '--help'])).out, /^ {2}objects put-deposit-address <guid> /m);

  const { code, out } = await run(['banks', 'create', '--help']);
  assert.equal(code, 0);
  assert.equal(
    out,
    `Usage: portico operator banks create <organization-guid> --name <text> --environment <production | sandbox> [flags]

Create a Bank of an Organization; emits bank.created
POST /operator/organizations/{guid}/banks

  <organization-guid>              text                  UUIDv7 as 32 lowercase hexadecimal characters
  --name                           text                  required; 1 to 128 characters, not only white space
  --environment                    production | sandbox  required; production or sandbox
  --type                           production | sandbox  The same as environment
  --features                       list of text          At most 32 names of up to 64 lowercase letters, digits and underscores
  --supported-fiat-account-assets  list of text          Assets of fiat accounts. Default: every fiat asset of the catalogue
  --supported-trading-symbols      list of text          Symbols that can be traded. Default: every symbol of the catalogue
  --json                           JSON                  the whole body, or - to read it from standard input; flags override its fields
`,
  );
  const update = await run(['organizations', 'update', '--help']);
  for (const flag of ['live', 'features', 'second-factor-roles', 'second-factor-in-production'])
    assert.match(update.out, new RegExp(`^ {2}--${flag} `, 'm'));
  const list = await run(['organizations', 'list', '-h']);
  assert.match(list.out, /^ {2}--per-page {2}integer {2}Objects on a page, at most 100; default 20$/m);
  assert.doesNotMatch(list.out, /--json/);
});

/** In this process: a process of its own adds only the exit code, as the first of these calls shows. */
const reject = (args: readonly string[], message: RegExp, environment: Environment, name = 'StartupError') =>
  assert.rejects(operator(readConfig({ ...SETTINGS, ...environment }), args), {
    ...{ name, message },
  });

const rejectMisuse = (args: readonly string[], message: RegExp) =>
  reject(args, message, WITH_TOKEN, 'UsageError');

test('misuse prints the usage, and the exit code is 2', async () => {
  const { code, out, err } = await run(['nothing']);
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /^portico: There is no call nothing\.\nUsage: portico operator <call> /);
  await rejectMisuse(['nothing', '--help'], /^There is no call nothing\.\n/);
  await rejectMisuse(['banks'], /^After banks comes one of create, .*\.\nUsage: /);
  await rejectMisuse(['banks', 'crate'], /^There is no call banks crate; banks has create, .*\.\nUsage: /);
  const usage = /^<bank-guid> is missing\.\nUsage: portico operator banks get <bank-guid>$/;
  await rejectMisuse(['banks', 'get'], usage);
  const flag = /^Unknown flag --json\.\nUsage: portico operator banks/;
  await rejectMisuse(['banks', 'get', 'x', '--json', '{}'], flag);
});

test('the token comes from the settings, or else from the data directory', async () => {
  const list = ['organizations', 'list'];
  await reject(list, /^There is no operator token: set PORTICO_OPERATOR_TOKEN, or .*$/, {});

  const dataDir = await mkdtemp(join(emptyDir, 'data-'));
  await writeFile(join(dataDir, 'operator.token'), `${OPERATOR_TOKEN}\n`);
  const fromFile = { PORTICO_DATA_DIR: dataDir };
  await answerOf(list, { environment: fromFile });

  const other = 'not-the-operator-token-of-any-test';
  const wrong = await run(list, {
    environment: { ...fromFile, PORTICO_OPERATOR_TOKEN: other },
  });
  assert.equal(JSON.parse(wrong.err).message_code, 'authentication_failed');

  await writeFile(join(dataDir, 'operator.token'), `${other}-€\n`);
  await reject(list, /operator\.token must have 32 to 512 printable ASCII characters .*\.$/, fromFile);
});
