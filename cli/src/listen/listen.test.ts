import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { createRandom } from '../../../testing/api/random.ts';
import { createTestApp } from '../../../testing/app/app.ts';
import { PATIENCE_MS } from '../../../testing/app/patience.ts';
import { BOUNDED } from '../../../testing/app/serve.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { publishEvents } from '../../../testing/webhooks/events.ts';
import { createCuttingProxy, createLocalServer } from '../testing/network.ts';
import { startCli } from '../testing/process.ts';

/** `portico listen` as its own process against a real service. `npm run soak:listen` has more rounds. */
const EVENTS = 400;
const ROUNDS = Number(process.env.LISTEN_ROUNDS ?? 1);
const BATCH = 20;
const SEED = Number(process.env.LISTEN_SEED ?? 20261116);
const STEP_MS = 250;
const POLL_MS = 5;

const app = await createTestApp();
await app.server.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.server.address() as AddressInfo;
const configDir = await mkdtemp(join(tmpdir(), 'portico-cli-'));
after(() => rm(configDir, { recursive: true, force: true }));

/** Lets the service poll until the condition holds. */
async function untilServed(condition: () => boolean, what: string): Promise<void> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!condition()) {
    assert.ok(Date.now() < giveUpAt, `timed out waiting for ${what}`);
    app.clock.advance(STEP_MS);
    await delay(POLL_MS);
  }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

type Fault = 'killed' | 'suspended' | 'cut' | 'restarted';

function faultOf(chance: number): Fault {
  if (chance < 0.2) return 'killed';
  if (chance < 0.45) return 'suspended';
  return chance < 0.8 ? 'cut' : 'restarted';
}

async function survives(seed: number, context: TestContext): Promise<void> {
  const tenant = await createTenant(app);
  const local = await createLocalServer();
  const proxy = await createCuttingProxy(port);
  const random = createRandom(seed);
  const start = () =>
    startCli(['listen', '--forward-to', local.url], {
      ...{ tenant, url: proxy.url, env: { PORTICO_CLI_CONFIG_DIR: configDir } },
    });
  let listener = start();
  await untilServed(() => listener.err().includes('Listening'), 'the first connection');

  const published: string[] = [];
  const faults = { killed: 0, suspended: 0, cut: 0, restarted: 0 };
  // Each at least once, the rest at random.
  const missing = Object.keys(faults) as Fault[];
  const arrived = (count: number) =>
    untilServed(() => new Set(local.guids()).size >= count, `${count} events`);
  while (published.length < EVENTS) {
    published.push(...(await publishEvents(app, tenant, BATCH)));
    // Somewhere within the batch.
    await arrived(published.length - Math.floor(random() * BATCH));
    const fault = missing.pop() ?? faultOf(random());
    faults[fault] += 1;
    if (fault === 'killed') {
      await kill(listener.child);
      listener = start();
    } else if (fault === 'suspended') {
      listener.child.kill('SIGSTOP');
      published.push(...(await publishEvents(app, tenant, BATCH)));
      app.clock.advance(60_000);
      await turn();
      listener.child.kill('SIGCONT');
    } else if (fault === 'cut') {
      proxy.cut();
    } else {
      await local.stop();
      published.push(...(await publishEvents(app, tenant, 1)));
      app.clock.advance(STEP_MS);
      await local.start();
    }
  }
  await arrived(published.length);
  const guids = local.guids();
  assert.deepEqual([...new Set(guids)], published, 'each event, in order');
  const repeated = guids.length - published.length;
  context.diagnostic(JSON.stringify({ seed, events: published.length, ...faults, repeated }));
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  assert.ok(repeated <= total, `${repeated} repetitions with ${JSON.stringify(faults)}`);
  await kill(listener.child);
}

for (let round = 0; round < ROUNDS; round++)
  test(
    `listen is killed, suspended and cut off, and forwards every event in order (seed ${SEED + round})`,
    BOUNDED,
    (context) => survives(SEED + round, context),
  );
