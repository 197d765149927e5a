import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../testing/database.ts';
import { publishEvents } from '../../testing/events.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { BOUNDED, waitFor, watch } from '../../testing/serve.ts';
import { createSubscription, founderOf } from '../../testing/subscriptions.ts';
import { createTenant, userToken } from '../../testing/tenant.ts';
import { refusing } from '../../testing/test-endpoint.ts';
import { createDispatchingApp, deliveryOf } from '../../testing/webhooks.ts';

test('an event is handled once, also after a restart', BOUNDED, async () => {
  const app = await createDispatchingApp({ clock: createFakeClock(new Date()) });
  const database = await createTestDatabase({ migrated: false });
  const reader = new pg.Client({ connectionString: database.url.reveal() });
  await reader.connect();
  const tenant = await createTenant(app);
  const subscription = await createSubscription(app, tenant, { url: await refusing() });
  const env = {
    ...{ PATH: process.env.PATH, DATABASE_URL: database.url.reveal() },
    SIGNING_KEYS: subscription.signing_key,
  };
  const children = new Set<ReturnType<typeof watch>>();
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all([...children].map(({ exited }) => exited));
    await reader.end();
    await database.drop();
  });
  async function start() {
    const running = watch(spawn(process.execPath, ['receiver.ts'], { cwd: import.meta.dirname, env }));
    children.add(running);
    const address = /http:\/\/\S+/;
    await waitFor('its address', running, () => address.test(running.out()));
    return { running, url: String(address.exec(running.out())?.[0]) };
  }
  const prints = (running: ReturnType<typeof watch>, line: string) =>
    waitFor(line, running, () => running.out().includes(line));

  const first = await start();
  const moved = await founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { url: first.url });
  assert.equal(moved.status, 200);
  await app.dispatcher.drain();
  const [event = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  await prints(first.running, `received transfer.completed ${event}`);
  const delivery = await deliveryOf(app, subscription, event);
  assert.ok(delivery.completed_at);

  const token = await userToken(app, tenant.organizationGuid);
  const shown = await app.call({ url: `/api/subscription_deliveries/${delivery.guid}/request`, token });
  const { headers, body } = shown.body as { headers: Record<string, string>; body: string };
  first.running.kill('SIGKILL');
  await first.running.exited;
  const second = await start();
  const send = async (sent: string) =>
    (await fetch(second.url, { method: 'POST', headers, body: sent })).status;
  assert.equal(await send(body), 204);
  await prints(second.running, `duplicate ${event}`);
  assert.equal(await send(body.replace('completed', 'cancelled')), 401);
  const { rows } = await reader.query('select handled_at from webhook_events where guid = $1', [event]);
  assert.deepEqual([rows.length, rows[0]?.handled_at instanceof Date], [1, true]);
  assert.ok(!second.running.out().includes('received transfer.completed'), second.running.out());
});
