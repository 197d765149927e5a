import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createDispatching,
  type Dispatching,
  keyOf,
  newEvents,
  sentAgain,
  untilQueueIsEmpty,
} from '../../../testing/app/dispatching.ts';
import { BOUNDED } from '../../../testing/app/serve.ts';
import { isSignedWith } from '../../../testing/webhooks/webhooks.ts';

/** Real processes and the command line: callers that retry lose nothing, and nothing is delivered twice. */
const TRANSFER_KEY = { PORTICO_TRANSFER_KEY: 'transfer-key-of-the-test-under-load' };
const CALLERS = 4;
const PAUSE_MS = 20;
const EVENTS_ON_EACH_SIDE = 80;
/** More than the buffers of a connection hold. */
const FILL = `
  insert into request_log (guid, organization_guid, environment, method, path, object_guid, status, duration_ms, sample_rate)
  select uuidv7(), $1, 'sandbox', 'GET', '/api/transfers/:guid', gen_random_uuid(), 200, 4, 1 from generate_series(1, 5000)`;

const [old, fresh] = await Promise.all([
  createDispatching({ after }),
  createDispatching({ after }, { PORTICO_MASTER_KEY: 'b2'.repeat(32) }),
]);
const [oldDispatcher, freshDispatcher] = [old.startDispatcher(), fresh.startDispatcher()];

type Arrival = { path: string; guid: string; succeeded: boolean; headers: IncomingHttpHeaders; body: Buffer };

async function createReceiver() {
  const arrivals: Arrival[] = [];
  let isFailing = true;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { guid } = JSON.parse(body.toString()) as { guid: string };
    const path = request.url ?? '';
    // The first event of a subscription succeeds, so that the others are sent.
    const isFirst = !arrivals.some((arrival) => arrival.path === path);
    const succeeded = isFirst || path !== '/failing' || !isFailing;
    arrivals.push({ path, guid, succeeded, headers: request.headers, body });
    response.writeHead(succeeded ? 204 : 500).end();
  });
  // Only the senders close idle connections: five seconds may pass between two requests on a busy machine.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  after(() => server.close() && server.closeAllConnections());
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals: arrivals as readonly Arrival[],
    recover() {
      isFailing = false;
    },
  };
}

/** As a proxy does: calls go to one of the installations. */
function createCallers(first: Dispatching, owner: { organizationGuid: string; bankGuid: string }) {
  const acknowledged: string[] = [];
  let current = first;
  let isOver = false;
  let refusedAt: number | undefined;
  let acceptedAt: number | undefined;

  async function post(): Promise<void> {
    const events = newEvents({ ...owner, subscriptionGuid: '' }, 1);
    while (!isOver) {
      try {
        await current.post(events);
        acknowledged.push(...events.map(({ guid }) => guid));
        if (refusedAt !== undefined) acceptedAt ??= performance.now();
        return;
      } catch (error) {
        assert.match(String(error), /: 503 .*organization_moving|422 .*unknown_organization|fetch failed/);
        refusedAt ??= performance.now();
        await delay(PAUSE_MS);
      }
    }
  }

  const calling = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      await post();
      await delay(PAUSE_MS);
    }
  });
  return {
    acknowledged: acknowledged as readonly string[],
    frozenMs: () => Math.round((acceptedAt ?? 0) - (refusedAt ?? 0)),
    switchTo(next: Dispatching) {
      current = next;
    },
    async end(): Promise<void> {
      isOver = true;
      await Promise.all(calling);
    },
    /** Resolves when so many further events are acknowledged. */
    async more(count: number): Promise<void> {
      const wanted = acknowledged.length + count;
      while (acknowledged.length < wanted) await delay(PAUSE_MS);
    },
  };
}

async function run(site: Dispatching, ...args: string[]) {
  const { code, out, err } = await site.run(['operator', 'organizations', ...args], TRANSFER_KEY);
  assert.equal(code, 0, err);
  return { out, err };
}

test('under load no acknowledged event is lost and none is delivered by both', BOUNDED, async (t) => {
  const receiver = await createReceiver();
  const organization = await old.operate('/organizations', { name: 'Acme', features: ['webhooks'] });
  const path = `/organizations/${organization.guid}`;
  const bank = await old.operate(`${path}/banks`, { name: 'Bank', environment: 'sandbox' });
  const keys = new Map<string, string>();
  for (const endpoint of ['/healthy', '/failing']) {
    const input = {
      type: 'webhook',
      name: 'Hook',
      url: `${receiver.url}${endpoint}`,
      environment: 'sandbox',
    };
    keys.set(endpoint, String((await old.operate(`${path}/subscriptions`, input)).signing_key));
  }
  const key = await old.operate(`/banks/${bank.guid}/applications`, { name: 'Key' });
  const owner = { organizationGuid: String(organization.guid), bankGuid: String(bank.guid) };
  await old.select(FILL, owner.organizationGuid);
  const callers = createCallers(old, owner);
  await callers.more(EVENTS_ON_EACH_SIDE);

  t.after(callers.end);
  const folder = await mkdtemp(join(tmpdir(), 'portico-transfer-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'acme.portico');
  const exported = await run(old, 'export', owner.organizationGuid, '--file', file);
  assert.match(exported.err, /"bytes": \d+/);
  const imported = JSON.parse((await run(fresh, 'import', '--file', file)).out) as { rows: object };
  callers.switchTo(fresh);
  await callers.more(EVENTS_ON_EACH_SIDE);
  await callers.end();
  t.diagnostic(`calls were refused for ${callers.frozenMs()} ms; ${JSON.stringify(imported.rows)}`);
  receiver.recover();
  await untilQueueIsEmpty(fresh, freshDispatcher);

  const timeouts = await fresh.timeouts();
  const succeeded = receiver.arrivals.filter((arrival) => arrival.succeeded);
  for (const endpoint of keys.keys()) {
    const arrived = succeeded.filter((each) => each.path === endpoint);
    const guids = new Set(arrived.map(({ guid }) => guid));
    const missing = callers.acknowledged.filter((guid) => !guids.has(guid));
    const repeated = sentAgain(arrived, timeouts);
    assert.deepEqual({ endpoint, missing, repeated }, { endpoint, missing: [], repeated: [] });
  }
  for (const arrival of receiver.arrivals)
    assert.ok(isSignedWith(String(keys.get(arrival.path)), arrival), 'the signing key is the same');
  assert.deepEqual(
    (await fresh.eventsDelivered(true, { ...owner, subscriptionGuid: '' })).length,
    new Set(succeeded.map(keyOf)).size,
    'the history has every delivery',
  );
  const token = await fetch(`${fresh.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'client_credentials', scope: 'customers:read' },
      ...{ client_id: String(key.client_id), client_secret: String(key.client_secret) },
    }),
  });
  assert.equal(token.status, 200);

  assert.match((await run(old, 'remove', owner.organizationGuid)).out, /"removed": true/);
  assert.equal(await old.queued(), 0);
  assert.equal(oldDispatcher.err(), '');
});
