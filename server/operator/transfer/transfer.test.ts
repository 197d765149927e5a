import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { TestApp } from '../../../testing/app/app.ts';
import { createCells, exportFrom, importInto, operator, rowsOf } from '../../../testing/app/cells.ts';
import { createKey, createTenant, type Key, tokenOf } from '../../../testing/app/tenant.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import {
  createFile,
  createFileOwner,
  inline,
  listenTo,
  PDF,
  PNG,
  showFile,
  storedIn,
  upload,
} from '../../../testing/objects/files.ts';
import { joinTeam, logIn } from '../../../testing/people/dashboard.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../testing/webhooks/test-endpoint.ts';
import { eventIn, guidsAt, isSignedWith, pass } from '../../../testing/webhooks/webhooks.ts';
import { claimDeletions } from '../../files/storage/cleanup/cleanup-store.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { columnsOf, insertRows } from './rows-store.ts';

const { old, fresh, clock } = await createCells();
const FAILS = { kind: 'answer', status: 500 } as const;

async function createOrganization() {
  const tenant = await createTenant(old);
  const { organizationGuid } = tenant;
  await createKey(old, `/organizations/${organizationGuid}/applications`, {
    ...{ name: 'Key of one address', ip_allowlist: ['8.8.8.8'] },
  });
  const [healthy, failing] = [await createTestEndpoint(), await createTestEndpoint()];
  const delivered = await createSubscription(old, tenant, { url: healthy.url });
  const waiting = await createSubscription(old, tenant, { url: failing.url, active: true });
  failing.behave(FAILS);
  const person = await joinTeam(old, organizationGuid);
  const customerGuid = await createCustomer(old, tenant.bankGuid);
  const token = await tokenOf(old, tenant.organizationKey, 'files:read files:execute');
  const files = [
    await createFile(old, { token, customerGuid }, inline(PNG)),
    await createFile(old, { token, customerGuid }, { ...inline(PDF), content_type: 'application/pdf' }),
  ];
  await old.fileProcessing.drain();
  const bank = await tokenOf(old, tenant.bankKey, 'trades:read trades:execute');
  const trade = await old.call({
    ...{ method: 'POST', url: '/api/trades', token: bank, headers: { 'idempotency-key': 'once' } },
    payload: { customer_guid: customerGuid, side: 'buy', symbol: 'BTC-USD', amount: 50_000 },
  });
  assert.equal(trade.status, 201, JSON.stringify(trade.body));
  const events = await publishEvents(old, tenant, 40);
  await pass(10_000, [old]);
  return { tenant, healthy, failing, delivered, waiting, person, customerGuid, files, trade, events };
}

/** Of all Organizations of the old cell. */
async function countAttempts(): Promise<number> {
  const { rows } = await sql`select from delivery_attempts`.execute(old.database.queries);
  return rows.length;
}

async function listAll(app: TestApp, key: Key): Promise<unknown[]> {
  const token = await tokenOf(app, key, 'trades:read customers:read');
  const answers = await Promise.all(
    ['/trades', '/customers'].map((path) => app.call({ url: `/api${path}`, token })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  return answers.map(({ body }) => body);
}

test('an Organization moves with its keys, endpoints, waiting deliveries, history and files', async () => {
  const made = await createOrganization();
  const { tenant, healthy, failing, delivered, waiting, person, events } = made;
  const { organizationGuid, organizationKey, bankKey } = tenant;
  const listed = await listAll(old, bankKey);
  const file = await exportFrom(old, organizationGuid);
  const before = await rowsOf(old, organizationGuid);
  const sentBefore = [healthy.received.length, failing.received.length];

  const imported = await importInto(fresh, file);
  assert.ok(!isFailure(imported), isFailure(imported) ? imported.message : '');
  const counts = Object.entries(before).map(([table, rows]) => [table, rows.length] as const);
  assert.deepEqual(
    imported.rows,
    Object.fromEntries(counts.filter(([, count]) => count > 0).map(([table, count]) => [table, count])),
  );
  assert.equal(imported.files, 2);
  const after = await rowsOf(fresh, organizationGuid);
  // The import adds its own record.
  after.audit_records = after.audit_records?.filter((row) => !row.includes('organization.import')) ?? [];
  assert.deepEqual(after, before);
  for (const table of [
    'delivery_queue',
    'delivery_attempts',
    'event_counters',
    'request_log',
    'idempotency_keys',
  ])
    assert.ok((before[table]?.length ?? 0) > 0, `the test needs rows of ${table}`);

  assert.deepEqual(await listAll(fresh, bankKey), listed);
  const token = await tokenOf(fresh, organizationKey, 'files:read');
  for (const [index, content] of [PNG, PDF].entries()) {
    const guid = String(made.files[index]?.guid);
    const { download_url: url } = await showFile(fresh, { token }, guid, '?include_download_url=true');
    const { rawPayload } = await fresh.server.inject(url);
    assert.deepEqual(rawPayload, content);
  }
  const again = await fresh.call({
    ...{ method: 'POST', url: '/api/trades', headers: { 'idempotency-key': 'once' } },
    token: await tokenOf(fresh, bankKey, 'trades:read trades:execute'),
    payload: { customer_guid: made.customerGuid, side: 'buy', symbol: 'BTC-USD', amount: 50_000 },
  });
  assert.deepEqual(
    [again.status, again.body],
    [201, made.trade.body],
    'the repeated request is not done again',
  );
  assert.equal((await logIn(fresh, person)).status, 200);

  failing.behave({ kind: 'answer' });
  await pass(20_000, [old, fresh]);
  assert.equal(healthy.received.length, sentBefore[0], 'delivered events are not sent again');
  const late = failing.received.slice(sentBefore[1]);
  const lateGuids = late.map((request) => eventIn(request).guid);
  assert.equal(new Set(lateGuids).size, late.length, 'each waiting delivery arrives once');
  assert.equal(late.length, before.delivery_queue?.length);
  assert.deepEqual(new Set(events).difference(new Set(lateGuids)), new Set());
  assert.ok(late.every((request) => isSignedWith(waiting.signing_key, request)));
  const [fromNew = ''] = await publishEvents(fresh, tenant);
  await pass(2_000, [fresh]);
  assert.equal(guidsAt(healthy).at(-1), fromNew);
  assert.ok(healthy.received.every((request) => isSignedWith(delivered.signing_key, request)));
  assert.ok(events.every((guid) => guidsAt(healthy).filter((each) => each === guid).length === 1));

  const removed = await old.transfers.remove(operator, organizationGuid);
  assert.ok(!isFailure(removed) && removed.removed);
  const left = await rowsOf(old, organizationGuid);
  delete left.audit_records;
  assert.deepEqual(Object.values(left).flat(), []);
  // Attempts are found by their deliveries, which are gone.
  assert.equal(await countAttempts(), 0);
  await old.clusterTasks.runOnce();
  assert.deepEqual(await storedIn(old), []);
  assert.equal((await storedIn(fresh)).length, 2);
  assert.equal((await old.operate('GET', `/organizations/${organizationGuid}`)).status, 404);

  const back = await importInto(old, await exportFrom(fresh, organizationGuid));
  assert.ok(!isFailure(back), isFailure(back) ? back.message : '');
  assert.equal(await countAttempts(), back.rows.delivery_attempts);
});

test('an Organization moves back to an installation that kept its attempts', async () => {
  const { organizationGuid } = (await createOrganization()).tenant;
  assert.ok(!isFailure(await importInto(fresh, await exportFrom(old, organizationGuid))));
  const file = await exportFrom(fresh, organizationGuid);
  const { delivery_attempts: attempts = [] } = await rowsOf(fresh, organizationGuid);
  assert.ok(attempts.length > 0);
  await old.transfers.remove(operator, organizationGuid);
  const { queries } = old.database;
  await insertRows(
    queries,
    'delivery_attempts',
    await columnsOf(queries, 'delivery_attempts'),
    `[${attempts}]`,
  );
  const back = await importInto(old, file);
  assert.ok(!isFailure(back), isFailure(back) ? back.message : '');
  assert.deepEqual((await rowsOf(old, organizationGuid)).delivery_attempts, attempts);
});

/** A file without content, in the new cell, whose deletion in the old one is not carried out yet. */
async function moveAwaitedFile() {
  const owner = await createFileOwner(old);
  const { guid } = await createFile(old, owner);
  assert.ok(!isFailure(await importInto(fresh, await exportFrom(old, owner.organizationGuid))));
  await old.transfers.remove(operator, owner.organizationGuid);
  return { owner, guid, file: await exportFrom(fresh, owner.organizationGuid) };
}

test('the content of an upload after a move back is kept, and can be deleted', async () => {
  const { owner, guid, file } = await moveAwaitedFile();
  assert.ok(!isFailure(await importInto(old, file)));
  const reach = await listenTo(old);
  const token = await tokenOf(old, owner.organizationKey, 'files:read files:execute');
  const { upload_url: url } = await showFile(old, { token }, guid);
  assert.equal((await upload(reach(url), PNG)).status, 200);
  await old.clusterTasks.runOnce();
  await old.fileProcessing.drain();
  assert.equal((await showFile(old, { token }, guid)).state, 'completed');
  assert.equal((await old.call({ method: 'DELETE', url: `/api/files/${guid}`, token })).status, 204);
});

test('a move back is refused while a sweep may delete the content of a later upload', async () => {
  await old.clusterTasks.runOnce();
  const { guid, file } = await moveAwaitedFile();
  const claimedUntil = new Date(clock.now().getTime() + 600_000);
  assert.deepEqual(await claimDeletions(old.database.queries, clock.now(), claimedUntil, 10), [guid]);
  const refused = await importInto(old, file);
  assert.ok(isFailure(refused) && /is still being deleted; import the file again/.test(refused.message));
  clock.advance(600_000);
  assert.ok(!isFailure(await importInto(old, file)));
});
