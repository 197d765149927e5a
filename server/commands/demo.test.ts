import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { findServicePort } from '../../testing/app/serve.ts';
import { createDispatchingApp } from '../../testing/webhooks/webhooks.ts';
import { isFailure } from '../infrastructure/runtime/failure.ts';
import { createDemo } from './demo.ts';

/** Longer than a simulated object stays in a state. */
const STEP_MS = 5_000;
const STEPS = 6;

async function createDemoApp(withInbox: boolean) {
  const port = await findServicePort();
  const app = await createDispatchingApp({
    environment: {
      PORTICO_BASE_URL: `http://127.0.0.1:${port}`,
      PORTICO_ALLOWLIST_POLICY: 'optional',
    },
  });
  await app.server.listen({ port, host: '127.0.0.1' });
  const demo = await createDemo(app, { randomBytes, withInbox });
  assert.ok(demo);
  return { app, demo, visible: { organizationGuid: demo.organization.guid } };
}

test('the inbox of a new demo receives the verified events of its objects', async () => {
  const { app, visible } = await createDemoApp(true);
  for (let step = 0; step < STEPS; step += 1) {
    await app.simulator.drain();
    await app.dispatcher.drain();
    app.clock.advance(STEP_MS);
  }
  const [inbox, ...others] = await app.inboxes.list(visible);
  assert.deepEqual([inbox?.name, others], ['Demo inbox', []]);
  const requests = await app.inboxes.requestsOf(visible, String(inbox?.guid));
  assert.ok(!isFailure(requests));
  assert.deepEqual(new Set(requests.map(({ signature }) => signature)), new Set(['valid']));
  const types = new Set(requests.map(({ event_type }) => event_type));
  for (const type of ['subscription.storing', 'transfer.completed', 'transfer.failed', 'trade.completed'])
    assert.ok(types.has(type), type);
});

test('without deliveries to its own address a demo has objects and no inbox', async () => {
  const { app, demo, visible } = await createDemoApp(false);
  assert.deepEqual(await app.inboxes.list(visible), []);
  const [bankKey, organizationKey] = [demo.bankKey.application, demo.organizationKey.application];
  assert.deepEqual([bankKey.bank_guid, organizationKey.bank_guid], [demo.bank.guid, null]);
  assert.equal(await createDemo(app, { randomBytes, withInbox: false }), undefined, 'only once');
});
