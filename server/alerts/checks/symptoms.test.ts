import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../../testing/app/tenant.ts';
import { alertsOf } from '../../../testing/people/alerts.ts';
import { joinTeam } from '../../../testing/people/dashboard.ts';
import { createMailServer } from '../../../testing/people/mail-server.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription, setMoments } from '../../../testing/webhooks/subscriptions.ts';
import { type Behaviour, createTestEndpoint } from '../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp } from '../../../testing/webhooks/webhooks.ts';

/** Alerts about failing endpoints name the cause, the waiting deliveries and the next attempt, as the dashboard does. */
const mail = await createMailServer();
const app = await createDispatchingApp({ environment: mail.settings });
const MINUTE_MS = 60_000;

/** Fails with three waiting deliveries, as if for ten minutes. */
async function failWith(behaviour: Behaviour) {
  const tenant = await createTenant(app);
  const { email } = await joinTeam(app, tenant.organizationGuid);
  const endpoint = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, {
    url: `${endpoint.url}/secret-path`,
    name: 'Old ledger',
  });
  await app.dispatcher.drain();
  endpoint.behave(behaviour);
  await publishEvents(app, tenant, 3);
  await app.dispatcher.drain();
  const since = new Date(app.clock.now().getTime() - 10 * MINUTE_MS);
  await setMoments(app, guid, { deliveries_failing_since: since });
  await app.alertsModule.checkFailing();
  await app.alertsModule.notifier.drain();
  const [alert] = await alertsOf(app, tenant.organizationGuid, { query: '&type=endpoint.failing' });
  assert.ok(alert);
  const sent = mail.received.findLast(({ to, data }) => to === email && data.includes('has failed for'));
  return { since, alert, host: new URL(endpoint.url).host, email: textOf(sent?.data ?? '') };
}

/** Without the line breaks of quoted-printable (RFC 2045, section 6.7). */
const textOf = (data: string) =>
  data
    .replaceAll(/=\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
const momentOf = (moment: Date) => moment.toISOString().slice(0, 16).replace('T', ' ');

test('the email of a failing endpoint quotes the last error', async () => {
  const body = `database connection\r\npool <b>exhausted</b> ${'x'.repeat(300)}`;
  const { since, alert, host, email } = await failWith({ kind: 'answer', status: 500, body });
  const { last_error: error, waiting, next_attempt_at } = alert.details;
  const next = new Date(String(next_attempt_at));
  const excerpt = `database connection pool <b>exhausted</b> ${'x'.repeat(300)}`.slice(0, 199);
  assert.deepEqual([error, waiting], [{ kind: 'rejected', status: 500, excerpt }, 3]);
  assert.ok(next > app.clock.now());
  assert.equal(
    alert.message,
    `${host} has not answered with 2xx since ${momentOf(since)} UTC. Last error: HTTP 500 ("${excerpt}"). ` +
      `3 deliveries wait, next attempt at ${momentOf(next)} UTC. After seven days the subscription fails.`,
  );
  assert.ok(email.includes(alert.message), email);
  assert.ok(email.includes('pool &lt;b&gt;exhausted&lt;/b&gt;'), 'escaped in HTML');
  assert.ok(!email.includes('secret-path'));
});

test('an endpoint without a response is named by kind and reason', async () => {
  const { alert } = await failWith({ kind: 'reset' });
  const { last_error: error } = alert.details as { last_error: { kind: string; reason: string } };
  assert.equal(error.kind, 'unreachable');
  assert.ok(alert.message.includes(`Last error: unreachable (${error.reason}). 3 deliveries wait`));
});
