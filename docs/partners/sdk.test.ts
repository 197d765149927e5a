import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createReceiver, signWebhook } from '../../sdk/src/index.ts';
import { createTestPool } from '../../testing/database/database.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { PDF } from '../../testing/objects/files.ts';
import { reportObject } from '../../testing/objects/objects.ts';
import { createSdkService } from '../../testing/packages/sdk.ts';
import { ROOT, run } from '../../testing/packages/sdk-package.ts';

/** The code of docs/partners/sdk.md, as it stands there, with the sources of the SDK. */
const TEXT = await readFile(join(import.meta.dirname, 'sdk.md'), 'utf8');
const SIGNING_KEY = '0123456789abcdef'.repeat(4);

const { app, tenant, local } = await createSdkService();
const customerGuid = await createCustomer(app, tenant.bankGuid);
const directory = await mkdtemp(join(tmpdir(), 'portico-sdk-page-'));
after(() => rm(directory, { recursive: true, force: true }));
await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
await writeFile(join(directory, 'package.json'), '{"type":"module"}');

const snippets = Array.from(TEXT.matchAll(/```ts\n(.*?)```/gs), ([, source = '']) => source);
const nameOf = (source: string) =>
  source.includes('const portico = new')
    ? 'portico.ts'
    : `${/export (?:async )?\w+ (\w+)/.exec(source)?.[1]}.ts`;
const source = (path: string) => join(ROOT, 'sdk', 'src', path);
for (const snippet of snippets)
  await writeFile(
    join(directory, nameOf(snippet)),
    snippet
      .replaceAll("'@portico/sdk'", `'${pathToFileURL(source('index.ts'))}'`)
      .replaceAll("'@portico/sdk/node'", `'${pathToFileURL(source('node.ts'))}'`)
      .replace('the client_id', tenant.bankKey.clientId)
      .replace('the client_secret', tenant.bankKey.secret)
      .replace('http://localhost:4000', local('http://localhost:4000')),
  );
const load = (name: string) => import(pathToFileURL(join(directory, `${name}.ts`)).href);

test('the code type-checks', async () => {
  for (const snippet of snippets) await writeFile(join(directory, `typed-${nameOf(snippet)}`), snippet);
  const portico = await readFile(join(directory, 'portico.ts'), 'utf8');
  await writeFile(join(directory, 'portico.ts'), portico.replace(/'file:[^']+'/, "'@portico/sdk'"));
  const compilerOptions = {
    ...{ target: 'esnext', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
    ...{ lib: ['esnext'], types: ['node'], allowImportingTsExtensions: true },
    paths: { '@portico/sdk': [source('index.ts')], '@portico/sdk/node': [source('node.ts')] },
  };
  const files = snippets.map((snippet) => `typed-${nameOf(snippet)}`);
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const tsc = await run(process.execPath, [compiler, '-p', directory]).catch(
    (error: { stdout: string }) => error,
  );
  assert.equal(tsc.stdout, '');
  await writeFile(join(directory, 'portico.ts'), portico);
});

test('calls, lists and customer tokens', async () => {
  const { createCustomer: create } = await load('portico');
  const customer = await create('Ada Lovelace');
  assert.equal(customer.email, 'ada@example.com');
  const { rename } = await load('rename');
  assert.equal((await rename(customer.guid, 'Augusta King')).name.full, 'Augusta King');
  const owner = { ...tenant, customerGuid };
  const guid = await reportObject(app, 'transfer', owner, { state: 'completed' });
  const { completedTransfers } = await load('completedTransfers');
  assert.deepEqual(await completedTransfers(new Date(0)), [guid]);
  const { tokenFor } = await load('tokenFor');
  assert.match(await tokenFor(customer.guid), /^ey/);
});

test('errors', async () => {
  const { explain } = await load('explain');
  const { portico } = await load('portico');
  const error = await portico.customers.token('0'.repeat(32), { scopes: ['transfers:read'] }).catch(explain);
  assert.equal(error, 'This customer does not exist.');
  assert.match(
    await portico.customers.get('0'.repeat(32)).catch(explain),
    /^not_found \(request [0-9a-f]{32}\)/,
  );
  assert.throws(() => explain(new RangeError('another')), RangeError);
});

test('files, from the disk and from a page', async (t) => {
  t.mock.method(console, 'log', () => {});
  const path = join(directory, 'bill.pdf');
  await writeFile(path, PDF);
  const { sendBill } = await load('sendBill');
  let ended = false;
  const sent = sendBill(path, customerGuid).finally(() => {
    ended = true;
  });
  while (!ended) await app.fileProcessing.drain();
  assert.equal((await sent).state, 'completed');

  const { uploadFromPage } = await load('uploadFromPage');
  const { portico } = await load('portico');
  const about = { type: 'utility_bill', filename: 'bill.pdf', content_type: 'application/pdf' };
  const { guid, upload_url } = await portico.files.create({ ...about, customer_guid: customerGuid });
  const percents: number[] = [];
  const file = new File([PDF], 'bill.pdf');
  await uploadFromPage(local(upload_url), file, (percent: number) => percents.push(percent));
  assert.equal(percents.at(-1), 100);
  await app.fileProcessing.drain();
  assert.equal((await portico.files.get(guid)).state, 'completed');
});

async function signedRequest(fields: Record<string, string> = {}) {
  const guid = crypto.randomUUID().replaceAll('-', '');
  const event = {
    ...{ guid, organization_guid: tenant.organizationGuid, bank_guid: tenant.bankGuid },
    ...{ event_type: 'transfer.completed', object_guid: guid, environment: 'sandbox', ...fields },
  };
  const body = JSON.stringify(event);
  const headers = await signWebhook(body, SIGNING_KEY, { guid });
  return { event, request: new Request('https://partner.example/', { method: 'POST', body, headers }) };
}

test('a webhook is verified', async () => {
  const { readWebhook } = await load('readWebhook');
  const { event, request } = await signedRequest();
  assert.deepEqual(await readWebhook(request, ['f'.repeat(64), SIGNING_KEY]), event);
  const refused = await readWebhook((await signedRequest()).request, ['f'.repeat(64)]);
  assert.deepEqual([refused.status, await refused.text()], [401, 'signature_mismatch']);
});

test('a receiver handles an event after its answer', async () => {
  const { POST, completed } = await load('completed');
  const guid = await reportObject(app, 'transfer', { ...tenant, customerGuid }, { state: 'completed' });
  const { request } = await signedRequest({ object_guid: guid });
  const work: Promise<unknown>[] = [];
  const { status } = await POST(request, { waitUntil: (each: Promise<unknown>) => work.push(each) });
  assert.deepEqual([status, completed.length], [200, 0]);
  await Promise.all(work);
  assert.equal(completed.length, 1);
});

test('the store on PostgreSQL deduplicates, and keeps what was not handled', async () => {
  const { createPostgresSeenStore, processRest } = await load('createPostgresSeenStore');
  const database = createTestPool(app.testDatabase.ownerUrl, { max: 2 });
  after(() => database.end());
  await database.query(/```sql\n(.*?)```/s.exec(TEXT)?.[1] ?? '');
  const store = createPostgresSeenStore(database);
  const { event } = await signedRequest();
  const added = await Promise.all([store.add(event.guid, event), store.add(event.guid, event)]);
  assert.deepEqual(added.sort(), [false, true]);

  const processed: unknown[] = [];
  const receiver = {
    process: async (each: { guid: string }) => {
      processed.push(each);
      await store.done(each.guid);
    },
  };
  await processRest(database, receiver);
  assert.deepEqual(processed, [], 'it may still be in progress');
  await database.query("UPDATE webhook_events SET received_at = now() - interval '1 hour'");
  await Promise.all([processRest(database, receiver), processRest(database, receiver)]);
  assert.deepEqual(processed, [event]);
  await processRest(database, receiver);
  assert.equal(processed.length, 1);

  const handled: string[] = [];
  let failures = 1;
  const failing = createReceiver({
    ...{ keys: SIGNING_KEY, seen: store, onError: () => undefined },
    on: {
      '*': ({ guid }) => {
        if (failures-- > 0) throw new Error('not now');
        handled.push(guid);
      },
    },
  });
  const { event: failed, request } = await signedRequest();
  await (await failing.receive(await request.text(), request.headers)).work?.();
  await database.query("UPDATE webhook_events SET received_at = now() - interval '1 hour'");
  await processRest(database, failing);
  assert.deepEqual(handled, [failed.guid], 'a handler that failed runs again');
});

test('the page names every error class and every check', async () => {
  const errors = await readFile(source('errors.ts'), 'utf8');
  for (const [, name] of errors.matchAll(/^export class (\w+)/gm))
    assert.match(TEXT, new RegExp(`\`${name}\``));
  const checks = await readFile(source('webhooks/error.ts'), 'utf8');
  for (const [, check] of checks.matchAll(/^ {2}\| '(\w+)'/gm))
    assert.match(TEXT, new RegExp(`\`${check}\``));
});
