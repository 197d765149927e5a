import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Environment } from '../../server/infrastructure/config/config.ts';
import { systemClock } from '../../server/infrastructure/runtime/clock.ts';
import { createGuids } from '../../server/infrastructure/runtime/guid.ts';
import { createTestDatabase, createTestPool } from '../database/database.ts';
import { OPERATOR_TOKEN } from './app.ts';
import { createSite, type Running, type Scope, waitFor } from './serve.ts';

/** Real processes that share a database, with endpoints and events. */
export type Dispatching = Awaited<ReturnType<typeof createDispatching>>;
export type Endpoint = { organizationGuid: string; bankGuid: string; subscriptionGuid: string };
type Body = Record<string, unknown>;

const guids = createGuids({ clock: systemClock, randomBytes });

/** A database with a running `api`; dispatchers start on request. */
export async function createDispatching(scope: Scope, more: Environment = {}) {
  const site = await createSite(scope);
  /** For a second process with its own port. */
  const besides = await createSite(scope);
  const database = await createTestDatabase();
  const pool = createTestPool(database.url, { max: 2 });
  scope.after(async () => {
    await pool.end();
    await database.drop();
  });
  const settings = {
    PORTICO_DATABASE_URL: database.url.reveal(),
    PORTICO_DATABASE_CONNECTIONS: '5',
    PORTICO_MASTER_KEY: 'a1'.repeat(32),
    PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
    PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true',
    PORTICO_UPLOAD_URL: site.url,
    ...more,
  };
  const startApi = () => site.serve(settings, 'api');
  const api = await startApi();

  async function operate(path: string, payload: object, url = site.operatorUrl): Promise<Body> {
    const response = await fetch(`${url}/operator${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    });
    const body = (await response.json()) as Body;
    assert.ok(response.ok, `${path}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  }

  /** The first column of the result. */
  async function select<Value>(sql: string, ...values: unknown[]): Promise<Value[]> {
    const { rows } = await pool.query({ text: sql, values, rowMode: 'array' });
    return rows.map(([value]) => value as Value);
  }

  return {
    api,
    /** Another one, on the same port, when the first has ended. */
    startApi,
    url: site.url,
    dataDir: site.dataDir,
    operate,
    select,
    besidesUrl: besides.operatorUrl,
    databaseUrl: database.url,
    /** Runs another command with the same settings. */
    run: (args: readonly string[], others: Environment = {}) => site.run(args, { ...settings, ...others }),
    startDispatcher: (others: Environment = {}) => site.start(['dispatch'], { ...settings, ...others }),
    /** A process that accepts events and sends them itself. */
    serve: () => besides.serve(settings, 'serve'),

    /** Further subscriptions of the same Organization get the same events. */
    async createEndpoint(hook: string, ...more: readonly string[]): Promise<Endpoint> {
      const organization = await operate('/organizations', { name: 'Acme', features: ['webhooks', 'files'] });
      const path = `/organizations/${organization.guid}`;
      const bank = await operate(`${path}/banks`, { name: 'Bank', environment: 'sandbox' });
      const subscriptions: Body[] = [];
      for (const url of [hook, ...more])
        subscriptions.push(
          await operate(`${path}/subscriptions`, {
            ...{ type: 'webhook', name: 'Hook', url, environment: 'sandbox' },
          }),
        );
      return {
        organizationGuid: String(organization.guid),
        bankGuid: String(bank.guid),
        subscriptionGuid: String(subscriptions[0]?.guid),
      };
    },

    /** The number of new events; rejects when the call was not acknowledged. */
    async post(events: readonly NewEvent[], url = site.operatorUrl): Promise<number> {
      const { total, created } = await operate('/events', { events }, url);
      assert.equal(total, events.length);
      return Number(created);
    },

    /** Guids of events whose deliveries are recorded as delivered, or not; of all Organizations or of one. */
    async eventsDelivered(delivered: boolean, of?: Endpoint): Promise<string[]> {
      const found = await select<string>(
        `select event_guid from deliveries
         where organization_guid = coalesce($1, organization_guid) and (completed_at is not null) = $2`,
        of?.organizationGuid,
        delivered,
      );
      return found.map((guid) => guid.replaceAll('-', ''));
    },

    /** How often each delivery timed out, by its key: a slow machine may take too long to send or read a response. */
    async timeouts(): Promise<ReadonlyMap<string, number>> {
      const keys = await select<string>(
        `select regexp_replace(s.url, '^https?://[^/]+/?', '/') || ' ' || replace(d.event_guid::text, '-', '')
         from delivery_attempts as a join deliveries as d on d.guid = a.delivery_guid
         join subscriptions as s on s.guid = d.subscription_guid where a.outcome = 'timeout'`,
      );
      return countEach(keys);
    },

    /** As if the leases of killed dispatchers had expired, which takes ten seconds each. */
    expireLeases: () => select(`update dispatchers set lease_until = '2020-01-01'`),

    async queued(): Promise<number> {
      const [count] = await select<string>(
        'select (select count(*) from delivery_queue) + (select count(*) from delivery_batches)',
      );
      return Number(count);
    },

    dispatchers: () => select<string>('select guid from dispatchers order by guid'),
  };
}

export type NewEvent = ReturnType<typeof newEvents>[number];

/** Events with fixed guids, so that they can be posted again after a failure. */
export function newEvents({ organizationGuid, bankGuid }: Endpoint, count: number) {
  return Array.from({ length: count }, () => ({
    guid: guids.next(),
    organization_guid: organizationGuid,
    bank_guid: bankGuid,
    event_type: 'transfer.completed',
    object_guid: guids.next(),
  }));
}

export async function stop(running: Running): Promise<void> {
  running.kill('SIGTERM');
  const { code, signal, err } = await running.exited;
  assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' });
}

/** Waits until everything is sent and recorded. */
export function untilQueueIsEmpty({ queued }: Dispatching, dispatcher: Running): Promise<void> {
  return waitFor('an empty queue', dispatcher, async () => (await queued()) === 0);
}

export type Arrival = { at: number; path: string; guid: string };

/**
 * A fast endpoint that only counts, for thousands of requests. `testing/webhooks/test-endpoint.ts` keeps the requests and
 * can misbehave.
 */
export async function createCounter(scope: Scope) {
  const arrivals: Arrival[] = [];
  let connections = 0;
  let released = Promise.resolve();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const { guid } = JSON.parse(Buffer.concat(chunks).toString()) as { guid: string };
      arrivals.push({ at: Date.now(), path: request.url ?? '', guid });
      await released;
      response.writeHead(204).end();
    });
  });
  // The senders close first, so that no request meets a closing connection.
  server.keepAliveTimeout = 120_000;
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      connections -= 1;
      if (connections === 0) server.emit('silent');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  scope.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** In order of arrival. */
    arrivals: arrivals as readonly Arrival[],
    /** Arrivals get no response until the returned function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      released = promise;
      return resolve;
    },
    /** Resolves when all connections are closed, so that requests of a killed sender have arrived. */
    async silent(): Promise<void> {
      if (connections > 0) await once(server, 'silent');
    },
  };
}

/** Number of occurrences of each value. */
/** The key of a delivery in tests: the path of its endpoint, and its event. */
export function keyOf({ path, guid }: { path: string; guid: string }): string {
  return `${path} ${guid}`;
}

/** Deliveries that arrived more often than their timeouts explain. */
export function sentAgain(
  arrivals: readonly { path: string; guid: string }[],
  timeouts: ReadonlyMap<string, number>,
): string[] {
  return [...countEach(arrivals.map(keyOf))]
    .filter(([key, count]) => count > 1 + (timeouts.get(key) ?? 0))
    .map(([key]) => key);
}

export function countEach<Value>(values: Iterable<Value>): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
