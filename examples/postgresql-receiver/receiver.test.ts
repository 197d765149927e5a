import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, test } from 'node:test';
import pg from 'pg';
import { signWebhook } from '../../sdk/src/index.ts';
import { createFakeClock } from '../../testing/app/fake-clock.ts';
import { BOUNDED, type Running, type Scope, waitFor, watch } from '../../testing/app/serve.ts';
import { createTenant, userToken } from '../../testing/app/tenant.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription, founderOf } from '../../testing/webhooks/subscriptions.ts';
import { refusing } from '../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp, deliveryOf } from '../../testing/webhooks/webhooks.ts';

const database = await createTestDatabase({ migrated: false });
const client = new pg.Client({ connectionString: database.url.reveal() });
await client.connect();
after(async () => {
  await client.end();
  await database.drop();
});

function launch(scope: Scope, signingKey: string): Running {
  const env = {
    ...{ PATH: process.env.PATH, DATABASE_URL: database.url.reveal() },
    SIGNING_KEYS: signingKey,
  };
  const running = watch(spawn(process.execPath, ['receiver.ts'], { cwd: import.meta.dirname, env }));
  scope.after(async () => {
    running.kill('SIGKILL');
    await running.exited;
  });
  return running;
}

async function start(scope: Scope, signingKey: string, running = launch(scope, signingKey)) {
  const address = /http:\/\/\S+/;
  await waitFor('its address', running, () => address.test(running.out()));
  return { running, url: String(address.exec(running.out())?.[0]) };
}

const prints = (running: Running, line: string) => waitFor(line, running, () => running.out().includes(line));

/** On a connection of its own: the receiver closes an idle one after five seconds, at which a slow test may reuse it. */
async function post(url: string, headers: Record<string, string>, body: string): Promise<number> {
  return (await fetch(url, { method: 'POST', headers: { ...headers, connection: 'close' }, body })).status;
}

async function deliver(url: string, key: string, guid: string): Promise<void> {
  const body = JSON.stringify({ guid, event_type: 'transfer.completed', object_guid: guid });
  assert.equal(await post(url, await signWebhook(body, key, { guid }), body), 204);
}

test('a receiver whose first statement fails tries again', BOUNDED, async (t) => {
  // As a second receiver does that starts at the same time: the table appears while it is created.
  await client.query('begin; create table webhook_events (due_at timestamptz, handled_at timestamptz)');
  const running = launch(t, 'a'.repeat(64));
  await waitFor('the creation of the table', running, async () => {
    const { rows } = await client.query(
      'select from pg_locks where transactionid = pg_current_xact_id()::xid and not granted',
    );
    return rows.length > 0;
  });
  await client.query('commit');
  await start(t, '', running);
  assert.match(running.err(), /duplicate key value/);
  running.kill('SIGKILL');
  await running.exited;
  await client.query('drop table webhook_events');
});

test('an event is handled once, also after a restart', BOUNDED, async (t) => {
  const app = await createDispatchingApp({ clock: createFakeClock(new Date()) });
  const tenant = await createTenant(app);
  const subscription = await createSubscription(app, tenant, { url: await refusing() });

  const first = await start(t, subscription.signing_key);
  const moved = await founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { url: first.url });
  assert.equal(moved.status, 200);
  await app.dispatcher.drain();
  const [event = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  await prints(first.running, `received transfer.completed ${event}`);
  const isHandled = async () => {
    const handled = 'select from webhook_events where guid = $1 and handled_at is not null';
    return (await client.query(handled, [event])).rowCount === 1;
  };
  // It prints the line before the transaction that marks the event as handled is committed.
  await waitFor('the commit', first.running, isHandled);
  const delivery = await deliveryOf(app, subscription, event);
  assert.ok(delivery.completed_at);

  const token = await userToken(app, tenant.organizationGuid);
  const shown = await app.call({ url: `/api/subscription_deliveries/${delivery.guid}/request`, token });
  const { headers, body } = shown.body as { headers: Record<string, string>; body: string };
  first.running.kill('SIGKILL');
  await first.running.exited;
  const second = await start(t, subscription.signing_key);
  assert.equal(await post(second.url, headers, body), 204);
  await prints(second.running, `duplicate ${event}`);
  assert.equal(await post(second.url, headers, body.replace('completed', 'cancelled')), 401);
  assert.ok(await isHandled());
  assert.ok(!second.running.out().includes('received transfer.completed'), second.running.out());
});

test('the receiver survives a restart of its database during a transaction', BOUNDED, async (t) => {
  const key = 'a'.repeat(64);
  const { running, url } = await start(t, key);
  await client.query('begin; lock table webhook_events in access exclusive mode');
  await waitFor('a transaction', running, async () => {
    const { rows } = await client.query(
      "select mode, pg_terminate_backend(pid) from pg_locks where relation = 'webhook_events'::regclass and not granted",
    );
    // That of `select … for update`. The statement that deletes old events may wait first.
    return rows.some(({ mode }) => mode === 'RowShareLock');
  });
  await client.query('rollback');

  await deliver(url, key, 'b'.repeat(32));
  await prints(running, `received transfer.completed ${'b'.repeat(32)}`);
});

test('old events are not looked for after each event', BOUNDED, async (t) => {
  const key = 'a'.repeat(64);
  const { running, url } = await start(t, key);
  await client.query(`create table deletions ();
    create function note_deletion() returns trigger language plpgsql as
      'begin insert into deletions default values; return null; end';
    create trigger note_deletion after delete on webhook_events execute function note_deletion()`);
  for (const guid of ['c', 'd', 'e'].map((digit) => digit.repeat(32))) {
    await deliver(url, key, guid);
    await prints(running, `received transfer.completed ${guid}`);
  }
  const { rows } = await client.query('select from deletions');
  assert.ok(rows.length <= 1, `${rows.length} deletions`);
});
