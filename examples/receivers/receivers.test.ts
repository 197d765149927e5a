import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import { signedHeaders, signingKeyOf } from '../../server/webhooks/deliveries/sending/signature.ts';
import { createFakeClock } from '../../testing/app/fake-clock.ts';
import { BOUNDED, findServicePort, type Running, waitFor, watch } from '../../testing/app/serve.ts';
import { createTenant, userToken } from '../../testing/app/tenant.ts';
import { deliveriesOf } from '../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription, founderOf } from '../../testing/webhooks/subscriptions.ts';
import { refusing } from '../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp } from '../../testing/webhooks/webhooks.ts';

type Command = readonly [program: string, ...args: string[]];
type Receiver = { language: string; needs: Command; build?: Command; start: Command };

const RECEIVERS: readonly Receiver[] = [
  {
    language: 'typescript',
    needs: [process.execPath, '--version'],
    start: [process.execPath, 'receiver.ts'],
  },
  { language: 'python', needs: ['python3', '--version'], start: ['python3', 'receiver.py'] },
  {
    language: 'go',
    needs: ['go', 'version'],
    build: ['go', 'build', '-o', 'receiver', 'receiver.go'],
    start: ['./receiver'],
  },
  { language: 'ruby', needs: ['ruby', '-rwebrick', '-e', ''], start: ['ruby', 'receiver.rb'] },
  {
    language: 'php',
    needs: ['php', '--version'],
    // Not every version prints the port that the system chose.
    start: ['php', '-S', `127.0.0.1:${await findServicePort()}`, 'receiver.php'],
  },
  { language: 'java', needs: ['java', '--version'], start: ['java', 'Receiver.java'] },
  {
    language: 'csharp',
    needs: ['dotnet', '--version'],
    build: ['dotnet', 'build', '--nologo', '-o', 'out'],
    start: ['dotnet', 'out/receiver.dll'],
  },
];
const OLD_KEY = 'a1b2c3d4'.repeat(8);
const FOREIGN_KEY = 'f'.repeat(64);
const TOO_OLD_MS = 301_000;

// Receivers compare timestamps with the clock of the machine.
const app = await createDispatchingApp({ clock: createFakeClock(new Date()) });

// At once: the first build of a language may take a minute.
describe('receivers', { concurrency: true }, () => {
  for (const receiver of RECEIVERS) test(receiver.language, BOUNDED, (t) => check(t, receiver));
});

async function check(t: TestContext, receiver: Receiver): Promise<void> {
  const [program, ...args] = receiver.needs;
  if (spawnSync(program, args).status !== 0)
    return t.skip(`${receiver.language} is not installed: ${receiver.needs.join(' ')}`);
  const tenant = await createTenant(app);
  const subscription = await createSubscription(app, tenant, { url: await refusing() });
  const { running, url } = await start(t, receiver, [OLD_KEY, subscription.signing_key]);
  const prints = (line: string) => waitFor(line, running, () => running.out().includes(line));

  const moved = await founderOf(app, tenant)('PATCH', `/${subscription.guid}`, { url });
  assert.equal(moved.status, 200, JSON.stringify(moved.body));
  await app.dispatcher.drain();
  await prints('received subscription.storing');
  const [event = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  await prints(`received transfer.completed ${event}`);
  const deliveries = await deliveriesOf(app, subscription);
  const delivery = deliveries.find(({ event_guid }) => event_guid === event);
  assert.ok(delivery?.completed_at, running.out());

  const shown = await app.call({
    url: `/api/subscription_deliveries/${delivery.guid}/request`,
    token: await userToken(app, tenant.organizationGuid),
  });
  const { headers, body } = shown.body as { headers: Record<string, string>; body: string };
  // Each on a connection of its own: a receiver may close an idle one after five seconds, at which a slow test reuses it.
  const send = async (sent: string, fields: Record<string, string>) =>
    (await fetch(url, { method: 'POST', headers: { ...fields, connection: 'close' }, body: sent })).status;
  assert.equal(await send(body, headers), 204);
  await prints(`duplicate ${event}`);
  assert.equal(running.out().split(`received transfer.completed ${event}`).length, 2, 'handled once');

  const tampered = body.replace('completed', 'cancelled');
  assert.notEqual(tampered, body);
  const signed = (key: string, at = new Date()) =>
    signedHeaders({ key: signingKeyOf(new Secret(key)), eventGuid: event, body, at });
  const { 'webhook-signature': signature = '', ...unsigned } = headers;
  const statuses = {
    'another body': await send(tampered, headers),
    'another id': await send(body, { ...headers, 'webhook-id': 'f'.repeat(32) }),
    'another timestamp': await send(body, {
      ...headers,
      'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1),
    }),
    'a timestamp of any size': await send(body, { ...headers, 'webhook-timestamp': '9'.repeat(5_000) }),
    'no timestamp': await send(body, { ...headers, 'webhook-timestamp': '' }),
    'another signature': await send(body, {
      ...headers,
      'webhook-signature': signature.replace(/(?<=^v1,)./, (first) => (first === 'A' ? 'B' : 'A')),
    }),
    'no signature': await send(body, unsigned),
    'a foreign key': await send(body, signed(FOREIGN_KEY)),
    'an old request': await send(body, signed(subscription.signing_key, new Date(Date.now() - TOO_OLD_MS))),
  };
  for (const [what, status] of Object.entries(statuses)) assert.equal(status, 401, what);
  assert.equal(await send(body, signed(OLD_KEY)), 204, 'the other key of a roll');
  const several = `v1,AAAA ${signature}`;
  assert.equal(await send(body, { ...headers, 'webhook-signature': several }), 204, 'several signatures');
  assert.equal((await fetch(url, { headers: { connection: 'close' } })).ok, false, 'GET');
  assert.ok(!running.out().includes('cancelled'), running.out());
}

/** In a copy of its folder, because some languages build beside their sources. */
async function start(
  t: TestContext,
  { language, build, start }: Receiver,
  keys: readonly string[],
): Promise<{ running: Running; url: string }> {
  const folder = await mkdtemp(join(tmpdir(), `portico-${language}-`));
  await cp(join(import.meta.dirname, language), folder, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, SIGNING_KEYS: keys.join(', ') };
  if (build) {
    const built = await watch(spawn(build[0], build.slice(1), { cwd: folder, env })).exited;
    assert.equal(built.code, 0, `${built.out}${built.err}`);
  }
  const child = spawn(start[0], start.slice(1), { cwd: folder, env });
  // PHP prints to stderr only.
  const { out, err, ...rest } = watch(child);
  const running = { ...rest, err, out: () => out() + err() };
  t.after(async () => {
    child.kill('SIGKILL');
    await rest.exited;
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  const address = /http:\/\/127\.0\.0\.1:[1-9]\d*/;
  await waitFor('its address', running, () => address.test(running.out()));
  return { running, url: `${address.exec(running.out())?.[0]}/webhooks` };
}
