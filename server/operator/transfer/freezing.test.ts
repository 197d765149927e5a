import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { assertError, type TestApp } from '../../../testing/app/app.ts';
import { operator } from '../../../testing/app/cells.ts';
import { holdBatch, passUntil } from '../../../testing/app/freezes.ts';
import { createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { lockWaits } from '../../../testing/database/locks.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { createFile, listenTo, PNG, upload } from '../../../testing/objects/files.ts';
import { eventOf, publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription, setMoments } from '../../../testing/webhooks/subscriptions.ts';
import { hold } from '../../../testing/webhooks/test-endpoint.ts';
import {
  createNodes,
  guidsAt,
  pass,
  queueOf,
  subscriptionRow,
  until,
} from '../../../testing/webhooks/webhooks.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { updateOrganization, updateSubscriptions } from './freeze-store.ts';

const { a, b, tenant, endpoint, subscription } = await createNodes();
const { organizationGuid, bankGuid, bankKey } = tenant;
const nodes = [a, b];
/** Steps of the time of a freeze that is to be refused. */
const REFUSED_SOON_MS = 100;
const MOVING = [503, 'organization_moving', /try again in a few seconds/] as const;
const customerGuid = await createCustomer(a, bankGuid);
const token = await tokenOf(a, bankKey, 'customers:read trades:read trades:execute');
const other = await createTenant(a);

async function freeze(app: TestApp): Promise<void> {
  assert.ok(!isFailure(await app.transfers.freeze(operator, organizationGuid)));
}

/** Calls that write the table wait until the lock is released. */
async function lock(table: 'objects' | 'deliveries') {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: tellLocked } = Promise.withResolvers<void>();
  const locking = a.database.transaction(async (transaction) => {
    await sql`lock table ${sql.table(table)} in share mode`.execute(transaction);
    tellLocked();
    await released;
  });
  await locked;
  return {
    release: () => {
      release();
      return locking;
    },
  };
}

async function untilBlocked(calls: number): Promise<void> {
  const areBlocked = async () => (await lockWaits(b.database.reserved)) === calls;
  await until(areBlocked, 'calls that wait for the lock');
}

async function unfreeze(): Promise<void> {
  assert.ok(!isFailure(await a.transfers.unfreeze(operator, organizationGuid)));
}

test('every node refuses the calls of a frozen Organization, and of no other', async () => {
  await freeze(a);
  for (const app of nodes) {
    const refused = await app.call({ url: '/api/customers', token });
    assertError(refused, ...MOVING);
    assert.equal(refused.headers['retry-after'], '5');
    const grant = { client_id: bankKey.clientId, client_secret: bankKey.secret, scope: 'customers:read' };
    const payload = { grant_type: 'client_credentials', ...grant, customer_guid: customerGuid, token };
    for (const url of ['/oauth/token', '/oauth/customer_token', '/oauth/revoke']) {
      const issued = await app.call({ method: 'POST', url, payload });
      assert.deepEqual([issued.status, issued.body.message_code], [503, 'organization_moving'], url);
    }
    const events = [eventOf(app, tenant)];
    assertError(await app.operate('POST', '/events', { events }), ...MOVING);
    const report = { bank_guid: bankGuid, details: { type: 'individual' } };
    assertError(await app.operate('PUT', `/objects/customer/${'7'.repeat(32)}`, report), ...MOVING);
    assertError(await app.operate('POST', `/banks/${bankGuid}/applications`, { name: 'Key' }), ...MOVING);
    assertError(await app.operate('DELETE', `/applications/${bankKey.clientId}`), ...MOVING);
    const path = `/organizations/${organizationGuid}`;
    assertError(await app.operate('PATCH', path, { name: 'Renamed' }), ...MOVING);
    const theirs = await tokenOf(app, other.bankKey, 'customers:read');
    assert.equal((await app.call({ url: '/api/customers', token: theirs })).status, 200);
    await publishEvents(app, other);
  }
  await unfreeze();
  for (const app of nodes) assert.equal((await app.call({ url: '/api/customers', token })).status, 200);
});

async function createTrade(callerToken: string, customer: string) {
  const { status, body } = await a.call({
    ...{ method: 'POST', url: '/api/trades', token: callerToken },
    payload: { customer_guid: customer, side: 'buy', symbol: 'BTC-USD', amount: 50_000 },
  });
  assert.equal(status, 201, JSON.stringify(body));
  const read = () =>
    a.database.queries
      .selectFrom('objects')
      .select('state')
      .where('guid', '=', String(body.guid))
      .executeTakeFirstOrThrow();
  return { hasMoved: async () => (await read()).state !== body.state };
}

test('no node sends, and the simulator rests, until the Organization is unfrozen', async () => {
  const trade = await createTrade(token, customerGuid);
  endpoint.behave({ kind: 'answer', status: 500 });
  await publishEvents(a, tenant, 5);
  await publishEvents(b, tenant, 5);
  await a.dispatcher.drain();
  await b.dispatcher.drain();
  await freeze(b);
  const waiting = (await queueOf(a, subscription)).length;
  assert.ok(waiting >= 10);
  const sent = endpoint.received.length;
  endpoint.behave({ kind: 'answer' });
  await pass(60_000, nodes, 10_000);
  await a.simulator.drain();
  await a.clusterTasks.runOnce();
  assert.equal(endpoint.received.length, sent);
  assert.equal((await queueOf(a, subscription)).length, waiting);
  assert.equal(await trade.hasMoved(), false);
  await unfreeze();
  await pass(3_000, nodes);
  assert.deepEqual(await queueOf(a, subscription), []);
  await a.simulator.drain();
  assert.ok(await trade.hasMoved());
});

test('objects and subscriptions of others go on while a node refuses the events of an Organization', async () => {
  const theirToken = await tokenOf(a, other.bankKey, 'trades:read trades:execute');
  const theirTrade = await createTrade(theirToken, await createCustomer(a, other.bankGuid));
  const due = { scheduled_deletion_at: a.clock.now() };
  const theirs = await createSubscription(a, other, { url: endpoint.url });
  const refused = await createSubscription(a, tenant, { url: endpoint.url });
  const refusedTrade = await createTrade(token, customerGuid);
  for (const { dispatcher } of nodes) await dispatcher.drain();
  await freeze(a);
  // The database has the Organization as active, but the nodes were not told.
  await a.database.transaction(async (transaction) => {
    await updateOrganization(transaction, organizationGuid, { frozen_at: null });
    await updateSubscriptions(transaction, organizationGuid, false);
  });
  for (const { guid } of [refused, theirs]) await setMoments(a, guid, due);
  a.clock.advance(1_000);
  await a.simulator.step();
  await a.subscriptions.sweepDeleted();
  assert.deepEqual([await refusedTrade.hasMoved(), await theirTrade.hasMoved()], [false, true]);
  const isDeleted = async (of: typeof theirs) => (await subscriptionRow(a, of)).deleted_at !== null;
  assert.deepEqual([await isDeleted(refused), await isDeleted(theirs)], [false, true]);
  await unfreeze();
});

test('a freeze waits for the requests in flight, and calls are accepted until they have ended', async () => {
  const stuck = hold();
  endpoint.behave(stuck);
  const sent = endpoint.received.length;
  await publishEvents(a, tenant, 3);
  await until(() => endpoint.received.length > sent, 'a request in flight');
  const freezing = freeze(b);
  await until(async () => (await subscriptionRow(a, subscription)).frozen, 'the end of sending');
  const [event = ''] = await publishEvents(a, tenant);
  stuck.release();
  endpoint.behave({ kind: 'answer' });
  await passUntil(nodes, freezing);
  const queue = await queueOf(a, subscription);
  assert.ok(queue.every((row) => row.leased_by === null));
  await unfreeze();
  await pass(2_000, nodes);
  assert.ok(guidsAt(endpoint).includes(event));
  const arrived = guidsAt(endpoint).slice(sent);
  assert.equal(new Set(arrived).size, arrived.length, 'nothing is sent twice');
});

test('a freeze waits for calls and transactions that began before', async () => {
  const objects = await lock('objects');
  const fresh = await tokenOf(a, bankKey, 'customers:read customers:execute');
  const payload = { type: 'individual' };
  const calling = a.call({ method: 'POST', url: '/api/customers', token: fresh, payload });
  await untilBlocked(1);
  const freezing = freeze(b);
  await objects.release();
  await passUntil(nodes, freezing);
  const { status, body } = await calling;
  assert.equal(status, 201, JSON.stringify(body));
  const late = await a.call({ method: 'POST', url: '/api/customers', token: fresh, payload });
  assertError(late, ...MOVING);
  await unfreeze();
});

test('calls that wait for a slot while the Organization is frozen are refused', async () => {
  const [eventGuid] = await publishEvents(a, tenant);
  await passUntil(nodes, a.dispatcher.drain());
  const events = await tokenOf(a, tenant.organizationKey, 'subscription_events:execute');
  const deliveries = await lock('deliveries');
  const payload = { subscription_event_guid: eventGuid, subscription_guid: subscription.guid };
  const calls = Array.from({ length: 12 }, () =>
    a.call({ method: 'POST', url: '/api/subscription_deliveries', token: events, payload }),
  );
  await untilBlocked(2);
  // Without the wait for the transactions, which would end before.
  const revision = await b.database.transaction(async (transaction) => {
    await updateOrganization(transaction, organizationGuid, { frozen_at: b.clock.now() });
    return b.revocations.revoke(transaction, 'freeze', organizationGuid);
  });
  const propagated = b.revocations.propagate(revision);
  const isFrozen = async () =>
    (await a.call({ url: '/api/customers', token })).body.message_code === 'organization_moving';
  await until(isFrozen, 'the freeze');
  await Promise.all([deliveries.release(), propagated]);
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([201, 503]), 'those that had a slot were accepted');
  await unfreeze();
  await passUntil(nodes, Promise.all(nodes.map(({ dispatcher }) => dispatcher.drain())));
});

test('an upload to a frozen Organization is refused and can be repeated', async () => {
  const fileToken = await tokenOf(a, bankKey, 'files:read files:execute');
  const { upload_url: link } = await createFile(a, { token: fileToken, customerGuid });
  const address = await listenTo(a);
  await freeze(b);
  const refused = await upload(address(link), PNG);
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5']);
  await unfreeze();
  assert.equal((await upload(address(link), PNG)).status, 200);
});

test('an Organization whose deliveries do not end is not frozen', async () => {
  const stuck = hold();
  endpoint.behave(stuck);
  const sent = endpoint.received.length;
  await publishEvents(a, tenant);
  await until(() => endpoint.received.length > sent, 'a request in flight');
  const batch = await holdBatch(a, subscription.guid);
  const freezing = a.transfers.freeze(operator, organizationGuid);
  stuck.release();
  endpoint.behave({ kind: 'answer' });
  const refused = await passUntil(nodes, freezing, REFUSED_SOON_MS);
  assert.ok(isFailure(refused) && refused.code === 'state_conflict', JSON.stringify(refused));
  await batch.release();
  assert.equal(
    (await a.call({ url: '/api/customers', token: await tokenOf(a, bankKey, 'customers:read') })).status,
    200,
  );
  await publishEvents(a, tenant);
  await pass(3_000, nodes);
  assert.deepEqual(await queueOf(a, subscription), []);
});

test('a frozen Organization stays frozen when a repeated freeze is refused', async () => {
  await freeze(a);
  const batch = await holdBatch(a, subscription.guid);
  const freezing = b.transfers.freeze(operator, organizationGuid);
  const refused = await passUntil(nodes, freezing, REFUSED_SOON_MS);
  assert.ok(isFailure(refused), JSON.stringify(refused));
  assert.match(refused.message, /did not end within 30 seconds, and it stays frozen; try again$/);
  assert.ok((await subscriptionRow(a, subscription)).frozen);
  for (const app of nodes) assertError(await app.call({ url: '/api/customers', token }), ...MOVING);
  await batch.release();
  await freeze(b);
  await unfreeze();
});
