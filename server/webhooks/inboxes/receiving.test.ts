import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { type Answer, assertError } from '../../../testing/app/app.ts';
import { operator } from '../../../testing/app/cells.ts';
import { findServicePort } from '../../../testing/app/serve.ts';
import { createTenant, userToken } from '../../../testing/app/tenant.ts';
import { lockWaits } from '../../../testing/database/locks.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createDispatchingApp, subscriptionRow, until } from '../../../testing/webhooks/webhooks.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';

/** The URL of an inbox, with real deliveries over HTTP. */
const port = await findServicePort();
const app = await createDispatchingApp({ environment: { PORTICO_BASE_URL: `http://127.0.0.1:${port}` } });
await app.server.listen({ port, host: '127.0.0.1' });
after(() => app.server.close());
const tenant = await createTenant(app);

type Summary = Record<string, unknown> & { guid: string };

async function call(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  payload?: object,
): Promise<Answer> {
  const token = await userToken(app, tenant.organizationGuid);
  return app.call({ method, url: `/api${path}`, token, ...(payload && { payload }) });
}
async function createInbox(answer?: string): Promise<{ guid: string; url: string }> {
  const { status, body } = await call('POST', '/inboxes', { name: 'Inbox', ...(answer && { answer }) });
  assert.equal(status, 201, JSON.stringify(body));
  return body as { guid: string; url: string };
}
async function requestsOf(guid: string): Promise<Summary[]> {
  return (await call('GET', `/inboxes/${guid}/requests`)).body.objects as Summary[];
}
const post = (url: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers });
/**
 * Lets time pass until the held answer of a request ends `work`; not a millisecond earlier. The requests of an
 * Organization are stored one at a time: when `quick` has answered a later one, the answer of the earlier one is held.
 */
async function assertHeld(guid: string, ms: number, quick: { url: string }, work: Promise<unknown>) {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  await until(async () => (await requestsOf(guid)).length === 1);
  assert.equal((await post(quick.url, '{}')).status, 200);
  app.clock.advance(ms - 1);
  assert.equal((await post(quick.url, '{}')).status, 200);
  assert.equal(isOver, false);
  app.clock.advance(1);
  await ended;
}
async function removeAll(): Promise<void> {
  await app.database.queries.deleteFrom('inboxes').execute();
}

test('a delivery arrives with its headers and exact body, and its signature is checked', async () => {
  const { guid, url } = await createInbox();
  const subscription = await createSubscription(app, tenant, { url });
  await app.dispatcher.drain();
  assert.ok((await subscriptionRow(app, subscription)).activated_at);
  const [first] = await requestsOf(guid);
  assert.ok(first);
  assert.deepEqual(
    [first.event_type, first.signature, first.subscription_guid, first.answer],
    ['subscription.storing', 'valid', subscription.guid, 'success'],
  );
  const { body: request } = await call('GET', `/inbox_requests/${first.guid}`);
  const headers = request.headers as { name: string; value: string }[];
  const headerOf = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
  assert.equal(headerOf('webhook-id'), first.event_guid);
  const event = JSON.parse(String(request.body));
  assert.equal(event.guid, first.event_guid);

  const sent = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  const copied = Object.fromEntries(
    Object.entries(sent).filter(([name]) => !/^(host|connection|content-length)$/i.test(name)),
  );
  assert.equal((await post(url, `${request.body} `, copied)).status, 200);
  const several = { ...copied, 'webhook-signature': `v1,AAAA ${headerOf('webhook-signature')}` };
  assert.equal((await post(url, String(request.body), several)).status, 200);
  const later = { ...copied, 'webhook-timestamp': '1' };
  assert.equal((await post(url, String(request.body), later)).status, 200);
  assert.equal((await post(url, '{}')).status, 200);
  assert.deepEqual(
    (await requestsOf(guid)).slice(0, 4).map(({ signature }) => signature),
    ['missing', 'invalid', 'valid', 'invalid'],
  );
  await removeAll();
});

test('an inbox answers as chosen: 500, after five seconds, never, or by closing the connection', async () => {
  assert.equal((await post((await createInbox('error')).url, '{}')).status, 500);

  const quick = await createInbox();
  const slow = await createInbox('slow');
  const late = post(slow.url, '{}');
  await assertHeld(slow.guid, 5_000, quick, late);
  assert.equal((await late).status, 200);

  const refusing = await createInbox('refuse');
  await assert.rejects(post(refusing.url, '{}'));
  assert.equal((await requestsOf(refusing.guid)).length, 1);

  const hanging = await createInbox('hang');
  const socket = connect(port, '127.0.0.1');
  const closed = once(socket, 'close');
  const path = new URL(hanging.url).pathname;
  socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 2\r\n\r\n{}`);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  await assertHeld(hanging.guid, 30_000, quick, closed);
  assert.equal(received, '');
  await removeAll();
});

test('the newest 100 requests are kept for 24 hours', async () => {
  const { guid, url } = await createInbox();
  for (let sent = 0; sent < 102; sent += 1) await post(url, `{"event_type":"number.${sent}"}`);
  const kept = await requestsOf(guid);
  assert.equal(kept.length, 20, 'the first page');
  assert.equal(kept[0]?.event_type, 'number.101');
  const rows = app.database.queries.selectFrom('inbox_requests').select('event_type').orderBy('guid');
  assert.deepEqual((await rows.execute())[0]?.event_type, 'number.2');
  assert.equal((await rows.execute()).length, 100);
  await app.clock.advance(24 * 3_600_000 + 1);
  assert.deepEqual(await requestsOf(guid), []);
  await app.clusterTasks.runOnce();
  assert.equal((await rows.execute()).length, 0);
  await removeAll();
});

test('an inbox takes 600 requests a minute, and bodies up to 64 KiB of any type', async () => {
  const { guid, url } = await createInbox();
  const bytes = Buffer.from([0xff, 0x00, 0x80]);
  assert.equal((await post(url, bytes, { 'content-type': 'application/octet-stream' })).status, 200);
  const [summary] = await requestsOf(guid);
  const { body } = await call('GET', `/inbox_requests/${summary?.guid}`);
  assert.deepEqual([body.body, body.body_encoding], [bytes.toString('base64'), 'base64']);
  assert.equal((await post(url, 'x'.repeat(64 * 1024 + 1))).status, 413);
  assert.equal((await fetch(url, { method: 'POST' })).status, 200);
  // The first tenth of the limit is counted in the background.
  for (let uses = 2; uses < 60; uses += 1) assert.equal((await post(url, '{}')).status, 200);
  await app.database.queries
    .updateTable('rate_limits')
    .set({ used: 600 })
    .where('key', '=', `inbox:${guid}`)
    .execute();
  const refused = await post(url, '{}');
  assert.equal(refused.status, 429);
  assert.ok(refused.headers.get('retry-after'));
  await removeAll();
});

test('an unknown inbox is not found', async () => {
  for (const token of ['0'.repeat(32), 'x', `${'0'.repeat(31)}A`, "'"])
    assertError(
      await app.call({ method: 'POST', url: `/portico-inbox/${token}`, payload: {} }),
      404,
      'not_found',
    );
});

/** Locks the row of an inbox until the returned function is called. */
async function lockInbox(guid: string): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const ended = app.database.maintain((queries) =>
    queries.transaction().execute(async (transaction) => {
      const row = transaction.selectFrom('inboxes').select('guid').where('guid', '=', guid);
      await row.forUpdate().execute();
      locked.resolve();
      await release.promise;
    }),
  );
  await locked.promise;
  return () => {
    release.resolve();
    return ended;
  };
}

test('a flood at an inbox leaves the connections of the database to others', async () => {
  const { guid, url } = await createInbox();
  const unlock = await lockInbox(guid);
  const flood = Array.from({ length: 100 }, () => post(url, '{}'));
  await until(async () => (await lockWaits(app.database.reserved)) > 0);
  assert.equal((await call('GET', `/inboxes/${guid}`)).status, 200);
  assert.equal(await lockWaits(app.database.reserved), 1);
  await unlock();
  for (const { status } of await Promise.all(flood)) assert.equal(status, 200);
  await removeAll();
});

test('a request to an inbox that is deleted meanwhile is not found', async () => {
  const { guid, url } = await createInbox();
  const unlock = await lockInbox(guid);
  const deleted = call('DELETE', `/inboxes/${guid}`);
  await until(async () => (await lockWaits(app.database.reserved)) === 1);
  const answered = post(url, '{}');
  await until(async () => (await lockWaits(app.database.reserved)) === 2);
  await unlock();
  assert.equal((await deleted).status, 204);
  assert.equal((await answered).status, 404);
});

test('a request to an inbox of a frozen Organization is refused', async () => {
  const { guid, url } = await createInbox();
  assert.ok(!isFailure(await app.transfers.freeze(operator, tenant.organizationGuid)));
  const refused = await post(url, '{}');
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5']);
  assert.ok(!isFailure(await app.transfers.unfreeze(operator, tenant.organizationGuid)));
  assert.deepEqual(await requestsOf(guid), []);
});
