import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifyWebhook } from '../../../sdk/src/webhooks.ts';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { BOUNDED } from '../../../testing/app/serve.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp } from '../../../testing/webhooks/webhooks.ts';
import { createCli, type Result } from '../testing/cli.ts';
import { createLocalServer } from '../testing/network.ts';

/** Between two attempts, with its jitter. */
const LONGEST_DELAY_MS = 660_000;
const app = await createDispatchingApp({ clock: createFakeClock(new Date()) });
const { cli, url, configDir, as } = await createCli(app);
const tenant = await createTenant(app);
const env = as(tenant.organizationKey);
const endpoint = await createTestEndpoint();
const subscription = await createSubscription(app, tenant, { url: endpoint.url });
await app.dispatcher.drain();
const [eventGuid = ''] = await publishEvents(app, tenant, 1);
await app.dispatcher.drain();

function assertDone({ code, err }: Result): void {
  assert.equal(code, 0, err);
}

async function json(args: readonly string[]) {
  const result = await cli([...args, '--json'], { env });
  assertDone(result);
  return JSON.parse(result.out);
}

test('login checks and stores a key pair for its owner only; logout removes it', BOUNDED, async () => {
  const { clientId, secret } = tenant.organizationKey;
  const args = ['login', '--url', url, '--client-id', clientId, '--secret-stdin'];
  const refused = await cli(args, { input: 'portico_sk_wrong' });
  assert.equal(refused.code, 3);
  assert.match(refused.err, /^portico: .*invalid_client/);
  assert.equal((await cli(['whoami'])).code, 3, 'nothing was stored');

  assertDone(await cli(args, { input: `${secret}\n` }));
  const path = join(configDir, 'profiles.json');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.ok((await readFile(path, 'utf8')).includes(secret));
  const who = await cli(['whoami', '--json']);
  assert.equal(JSON.parse(who.out).organization_guid, tenant.organizationGuid);

  const other = await cli(args, { input: secret, env: { PORTICO_CLI_PROFILE: 'other' } });
  assertDone(other);
  assert.equal(JSON.parse((await cli(['whoami', '--json'])).out).profile, 'other');
  assert.equal(JSON.parse((await cli(['whoami', '--profile', 'default', '--json'])).out).profile, 'default');
  for (const profile of ['other', 'default']) assertDone(await cli(['logout', '--profile', profile]));
  assert.match((await cli(['whoami'])).err, /You are not logged in. Run portico login/);
});

test('login asks on a terminal and does not show the secret', BOUNDED, async () => {
  const { clientId, secret } = tenant.organizationKey;
  const result = await cli(['login', '--url', url, '--client-id', clientId], {
    ...{ isTerminal: true, input: `${secret}\r\n` },
  });
  assertDone(result);
  assert.match(result.err, /Client secret: /);
  assert.ok(!`${result.out}${result.err}`.includes(secret));
  assertDone(await cli(['logout']));
});

test('token prints a token with the scopes', BOUNDED, async () => {
  const { out } = await cli(['token', '--scope', 'transfers:read customers:read'], { env });
  assert.match(out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const { scope } = await json(['token', '--scope', 'transfers:read,customers:read']);
  assert.deepEqual(scope.split(' ').sort(), ['customers:read', 'transfers:read']);
  const refused = await cli(['token', '--scope', 'transfers:fly'], { env });
  assert.equal(refused.code, 4);
  const without = await cli(['token', '--scope', 'subscriptions:read transfers:read'], { env });
  assert.match(
    without.err,
    /^Warning: The token is without subscriptions:read, which key pairs cannot hold\.\n$/,
  );
  assert.equal(without.code, 0);
});

test('events are listed, shown and sent again', BOUNDED, async () => {
  const listed = await cli(
    ['events', 'list', '--type', 'transfer.completed, transfer.failed', '--since', '1d'],
    { env },
  );
  assert.match(listed.out, new RegExp(`^\\S+Z\\ttransfer.completed\\t${eventGuid}\\t\\w+\\n$`));
  const table = await cli(['events', 'list', '--limit', '1'], { env, isTerminal: true, columns: 140 });
  assert.match(table.out, /CREATED AT +EVENT TYPE +GUID +OBJECT GUID/);
  assert.match(table.err, /These are the newest 1; --limit shows more/);
  assert.equal((await json(['events', 'show', eventGuid])).deliveries.length, 1);
  const [delivery] = await json(['events', 'resend', eventGuid]);
  assert.equal(delivery.subscription_guid, subscription.guid);
  assert.equal((await cli(['events', 'show', 'f'.repeat(32)], { env })).code, 5);
  assert.equal((await cli(['events', 'show', 'x'], { env })).code, 2);
});

test('commands about events say that they need an Organization key or a subscription', BOUNDED, async () => {
  const bank = as(tenant.bankKey);
  for (const args of [
    ['listen'],
    ['trigger', 'transfer.completed'],
    ['events', 'list'],
    ['deliveries', 'list'],
  ]) {
    const { code, err } = await cli(args, { env: bank });
    assert.equal(code, 4, err);
    assert.match(err, /portico: portico .* needs an Organization key, and this key pair is a Bank key\.\n/);
  }
  assert.match((await cli(['listen', '--help'])).out, /Needs an Organization key/);
  const other = await createTenant(app);
  const [guid = ''] = await publishEvents(app, other, 1);
  const { code, err } = await cli(['events', 'resend', guid], { env: as(other.organizationKey) });
  assert.equal(code, 5);
  assert.match(err, /A resend needs a subscription, and you have none in sandbox/);
  assert.match((await cli(['events', 'resend', '--help'])).out, /at least one is needed/);
});

test('deliveries are listed, watched and redelivered, and a subscription is tested', BOUNDED, async () => {
  const completed = await json(['deliveries', 'list', '--state', 'completed']);
  assert.ok(completed.length >= 2);
  const stop = new AbortController();
  const watched = await cli(['deliveries', 'list', '--watch', '--json'], {
    ...{ env, signal: stop.signal, onOutput: () => stop.abort() },
  });
  assertDone(watched);
  assert.equal(JSON.parse(watched.out.split('\n')[0] ?? '').subscription_guid, subscription.guid);
  const job = await json([
    'redeliver',
    '--subscription',
    subscription.guid,
    '--since',
    '7d',
    '--kind',
    'all',
  ]);
  assert.equal(job.state, 'completed');
  assert.ok(job.redelivered > 0);
  endpoint.behave({ kind: 'answer', status: 500 });
  await publishEvents(app, tenant, 1);
  // After some attempts the next one is minutes away, longer than the commands take.
  for (let attempt = 0; attempt < 10; attempt += 1) {
    await app.dispatcher.drain();
    app.clock.advance(LONGEST_DELAY_MS);
  }
  await app.dispatcher.drain();
  const failed = await cli(['redeliver', '--subscription', subscription.guid, '--since', '7d'], { env });
  assert.match(
    failed.err,
    /nothing to redeliver\. Deliveries that have not failed: 1\. --kind waiting sends/,
  );
  endpoint.behave({ kind: 'answer', status: 204 });
  const waiting = ['redeliver', '--subscription', subscription.guid, '--since', '7d', '--kind', 'waiting'];
  assert.equal((await json(waiting)).redelivered, 1);
  await app.dispatcher.drain();
  const [listed] = await json(['subscriptions', 'list']);
  assert.deepEqual([listed.subscription_guid, listed.state], [subscription.guid, 'active']);
  assert.equal((await json(['subscriptions', 'test', subscription.guid])).state, 'completed');
  endpoint.behave({ kind: 'answer', status: 500, body: 'the queue is full' });
  const failing = await cli(['subscriptions', 'test', subscription.guid], { env });
  assert.equal(failing.code, 7);
  assert.match(failing.out, /\nresponse_excerpt\tthe queue is full\n/);
  endpoint.behave({ kind: 'answer', status: 204 });
});

test(
  'a delivery is shown with its attempts, and with the reason of an attempt without an answer',
  BOUNDED,
  async () => {
    endpoint.behave({ kind: 'reset' });
    const tested = await cli(['subscriptions', 'test', subscription.guid], { env });
    assert.match(tested.out, /\nreason\t\w/);
    const [, guid = ''] = /^guid\t(\w+)/.exec(tested.out) ?? [];
    const listed = await cli(['deliveries', 'list', '--state', 'storing,failing'], { env });
    assert.match(listed.out, new RegExp(`\tsubscription.storing\t\\d+\tunreachable\t${guid}\t`));
    const shown = await cli(['deliveries', 'show', guid], { env });
    assert.match(shown.out, /\n\n1\t\S+Z\tunreachable\t\t\d+\t\w/);
    assert.equal((await json(['deliveries', 'show', guid])).attempts[0].outcome, 'unreachable');
    endpoint.behave({ kind: 'answer', status: 204 });
  },
);

test('a file is uploaded', BOUNDED, async () => {
  const customer = await createCustomer(app, tenant.bankGuid);
  const path = join(configDir, 'statement.json');
  await writeFile(path, JSON.stringify({ amount: 1 }));
  const args = ['files', 'upload', path, '--type', 'bank_statement', '--customer', customer];
  assert.equal((await json(args)).state, 'completed');
  const missing = await cli([...args.slice(0, 2), `${path}.lost`, ...args.slice(3)], { env });
  assert.match(missing.err, /is not a file/);
  const untyped = join(configDir, 'statement.unknown');
  await writeFile(untyped, 'text');
  const unknown = await cli([...args.slice(0, 2), untyped, ...args.slice(3)], { env });
  assert.equal(unknown.code, 2);
  assert.match(
    unknown.err,
    /The type of statement\.unknown is not known\. Name it, for example --content-type /,
  );
});

test('an event is triggered, and fixtures refer to each other', BOUNDED, async () => {
  for (const type of [
    'transfer.completed',
    'execution.completed',
    'account.balance_funding_pull.low',
    'bank.updated',
  ])
    assert.equal((await json(['trigger', type])).event_type, type);
  const refused = await cli(['trigger', 'member.invited'], { env });
  assert.equal(refused.code, 2);
  const path = join(configDir, 'fixtures.json');
  const body = { type: 'individual', bank_guid: tenant.bankGuid, labels: ['of two words'] };
  await writeFile(
    path,
    JSON.stringify({
      fixtures: [
        { name: 'customer', path: '/api/customers', body },
        { name: 'same', method: 'GET', path: `/api/customers/\${customer.guid}` },
        { name: 'labelled', method: 'GET', path: '/api/customers?label=of two words' },
      ],
    }),
  );
  const { customer, same, labelled } = await json(['fixtures', 'run', path]);
  assert.equal(same.guid, customer.guid);
  assert.equal(labelled.total, 1);
  await writeFile(path, '{"fixtures": [{"name": "x", "path": "/operator"}]}');
  assert.equal((await cli(['fixtures', 'run', path], { env })).code, 2);
});

test('calls are tailed with status and request id', BOUNDED, async () => {
  await app.requestRecorder.flush();
  const { out } = await cli(['logs', 'tail', '--no-follow', '--status', '404'], { env });
  assert.match(out, /\t404\tGET\t\/api\/subscription_events\/\{guid\}\t\d+\t[0-9a-f]{32}\tnot_found\n/);
});

test('doctor names the address and whether the allowlist has it', BOUNDED, async () => {
  const { code, out } = await cli(['doctor'], { env: { ...env, PORTICO_CLI_URL: `${url}/` } });
  assert.match(out, /Token +ok .*organization is valid in sandbox/);
  assert.match(out, /Allowlist +ok .*sees you as 127\.0\.0\.1; the allowlist is empty/);
  assert.equal(code, 0);
  const listed = await createTenant(app, { ipAllowlist: ['8.8.8.0/24'] });
  const denied = await cli(['doctor', '--json'], { env: as(listed.organizationKey) });
  assert.equal(denied.code, 7);
  const { ok, detail } = JSON.parse(denied.out).at(-1);
  assert.equal(ok, false);
  assert.match(detail, /127\.0\.0\.1, which is not in the allowlist \(8\.8\.8\.0\/24\)/);
});

test('listen posts signed events, shows statuses, marks resent ones and replays', BOUNDED, async () => {
  const local = await createLocalServer();
  const stop = new AbortController();
  const key = /Signing key: (\w{64})/;
  let output = '';
  const listening = cli(
    ['listen', '--forward-to', local.url, '--since', '7d', '--events', 'transfer.completed, transfer.failed'],
    {
      ...{ env, signal: stop.signal },
      onOutput(text) {
        output += text;
        if (/\(resent\)/.test(output)) stop.abort();
      },
    },
  );
  assertDone(await listening);
  assert.match(output, new RegExp(`transfer.completed +${eventGuid}  → 204  \\d+ ms\\n`));
  const [request] = local.received;
  const event = await verifyWebhook(request?.body ?? '', request?.headers as Record<string, string>, [
    key.exec(output)?.[1] ?? '',
  ]);
  assert.equal(event.guid, eventGuid);
  assert.equal((await cli(['listen', '--print-key'], { env })).out.trim(), key.exec(output)?.[1]);
  assert.deepEqual(Object.keys(event).sort(), Object.keys(JSON.parse(request?.body ?? '')).sort());
});

test('values that the service refuses end with the code of wrong arguments', BOUNDED, async () => {
  for (const [args, message] of [
    [['events', 'list', '--type', 'nothing'], /event_type must be an event type.*\(400, invalid_parameter/],
    [['deliveries', 'list', '--state', 'lost'], /state must be one of/],
    [['logs', 'tail', '--no-follow', '--status', '9xx'], /status must be a status/],
  ] as const) {
    const { code, out, err } = await cli(args, { env });
    assert.deepEqual([code, out], [2, ''], err);
    assert.match(err, message);
  }
});
