import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { OPERATOR_TOKEN } from '../../testing/app/app.ts';
import {
  BOUNDED,
  createSite,
  type Running,
  type Scope,
  type Site,
  waitFor,
} from '../../testing/app/serve.ts';
import { createTestDatabase, createTestPool } from '../../testing/database/database.ts';

const CLIENTS = 1_000;
const CONNECTIONS_PER_NODE = 50;
/** Until a client repeats its request; the service recommends a second. */
const REPEAT_AFTER_MS = 1_000;
const LOOK_AGAIN_AFTER_MS = 10;
/** Before the first kills. */
const MIN_REFUSED = 100;

type Body = Record<string, string>;
type Created = { guid: string; replayed: boolean };

/** Two `api` processes on one database. */
async function createNodes(scope: Scope) {
  const sites = [await createSite(scope), await createSite(scope)] as const;
  const database = await createTestDatabase();
  const pool = createTestPool(database.url, { max: 2 });
  scope.after(async () => {
    await pool.end();
    await database.drop();
  });
  const settings = {
    PORTICO_DATABASE_URL: database.url.reveal(),
    PORTICO_DATABASE_CONNECTIONS: '5',
    PORTICO_BASE_URL: sites[0].url,
    PORTICO_MASTER_KEY: 'a1'.repeat(32),
    PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
    PORTICO_RATE_LIMIT_API: '1000000',
    PORTICO_CALLS_IN_FLIGHT: '1000',
  };
  return { sites, pool, start: (site: Site) => site.serve(settings, 'api') };
}

async function post(url: string, token: string | undefined, payload: object): Promise<Body> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const { body } = await request(url, { method: 'POST', headers, body: JSON.stringify(payload) });
  return (await body.json()) as Body;
}

async function createKeyHolder({ url, operatorUrl }: Site) {
  const operate = (path: string, payload: object) =>
    post(`${operatorUrl}/operator${path}`, OPERATOR_TOKEN, payload);
  const { guid: organization } = await operate('/organizations', { name: 'Acme' });
  const path = `/organizations/${organization}/banks`;
  const { guid: bankGuid } = await operate(path, { name: 'Bank', environment: 'sandbox' });
  const key = await operate(`/banks/${bankGuid}/applications`, { name: 'Key' });
  const { access_token: token = '' } = await post(`${url}/oauth/token`, undefined, {
    grant_type: 'client_credentials',
    client_id: key.client_id,
    client_secret: key.client_secret,
    scope: 'customers:execute',
  });
  return token;
}

/** Clients that repeat one request on both nodes in turn until it succeeds. */
function insist(scope: Scope, urls: readonly string[], token: string) {
  const dispatcher = new Agent({ connections: CONNECTIONS_PER_NODE });
  let isOver = false;
  scope.after(() => {
    isOver = true;
    return dispatcher.destroy();
  });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const seen = { cutOff: 0, inProgress: 0 };
  /** Clients wait while both nodes are down. */
  let up = Promise.withResolvers<void>();
  up.resolve();

  async function attempt(url: string): Promise<Created | undefined> {
    const answer = await request(`${url}/api/customers`, {
      ...{ dispatcher, method: 'POST', headers, body: JSON.stringify({ type: 'individual' }) },
    }).catch(() => undefined);
    const body = (await answer?.body.json().catch(() => undefined)) as Body | undefined;
    if (!answer || !body) seen.cutOff += 1;
    else if (answer.statusCode === 201)
      return { guid: String(body.guid), replayed: answer.headers['idempotency-replayed'] === 'true' };
    else if (body.message_code === 'idempotency_in_progress') seen.inProgress += 1;
    // 503 while the connections of a node are in use, also by the blocked request.
    else assert.equal(answer.statusCode, 503, JSON.stringify(body));
    return undefined;
  }

  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let number = client; !isOver; number += 1) {
      await up.promise;
      const created = await attempt(urls[number % urls.length] as string);
      if (created) return created;
      await delay(REPEAT_AFTER_MS);
    }
    throw new Error('the test ended before the request succeeded');
  });
  return {
    done: Promise.all(clients),
    seen,
    async whileDown<Result>(work: () => Promise<Result>): Promise<Result> {
      up = Promise.withResolvers();
      return work().finally(up.resolve);
    },
  };
}

async function kill(running: Running): Promise<void> {
  running.kill('SIGKILL');
  assert.equal((await running.exited).signal, 'SIGKILL');
}

const { sites, pool, start } = await createNodes({ after });
const nodes = await Promise.all(sites.map(start));
const token = await createKeyHolder(sites[0]);
// No node can insert, so both are killed between the claim and the commit.
const lock = await pool.connect();
await lock.query('begin');
await lock.query('lock table objects in share mode');
const { done, seen, whileDown } = insist(
  { after },
  sites.map(({ url }) => url),
  token,
);
// Awaited by the last test; must not count as unhandled meanwhile.
done.catch(() => undefined);
let restarted: Running[];

async function isTrue(condition: string): Promise<boolean> {
  const { rows } = await pool.query(
    `select exists (select from idempotency_keys where ${condition}) as found`,
  );
  return rows[0].found;
}

test('nodes that are killed before the commit create nothing', BOUNDED, async () => {
  await waitFor('refused repeats', nodes[0] as Running, () => seen.inProgress >= MIN_REFUSED);
  restarted = await whileDown(async () => {
    await Promise.all(nodes.map(kill));
    // The lease of a minute must not expire while a slow machine starts the nodes.
    await pool.query(`update idempotency_keys set locked_until = '2100-01-01'`);
    await lock.query('rollback');
    lock.release();
    return Promise.all(sites.map(start));
  });
  assert.ok(await isTrue('status is null'), 'the claim of the killed node is left');
  const { rows: none } = await pool.query('select guid from objects');
  assert.deepEqual(none, []);
});

test(
  `${CLIENTS} repeats of one request on two nodes that are killed create one object`,
  BOUNDED,
  async (t) => {
    // As if the lease of the killed node had expired.
    await pool.query(`update idempotency_keys set locked_until = '2020-01-01'`);
    while (!(await isTrue('status is not null'))) await delay(LOOK_AGAIN_AFTER_MS);
    // Between the commit and most of the answers.
    await whileDown(async () => {
      await Promise.all(restarted.map(kill));
      await Promise.all(sites.map(start));
    });

    const answers = await done;
    const { rows } = await pool.query<{ guid: string }>('select guid from objects');
    assert.equal(rows.length, 1, 'one object');
    assert.deepEqual(
      [...new Set(answers.map(({ guid }) => guid))],
      rows.map(({ guid }) => guid.replaceAll('-', '')),
    );
    assert.ok(answers.filter(({ replayed }) => !replayed).length <= 1, 'the others are replayed');
    t.diagnostic(`cut off: ${seen.cutOff}, in progress: ${seen.inProgress}`);
  },
);
