import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import pg from 'pg';
import type { Context, Figure } from '../runner/benchmark.ts';
import { median } from '../shared/rounds.ts';
import { OPERATOR_TOKEN } from '../shared/site.ts';
import { startHttpServer } from './server-process.ts';

/** Of the flooding tenant, which lists them with rare filters. */
const OBJECTS = 400_000;
const FLOOD_CONNECTIONS = 160;
const ROUNDS = 5;
const ROUND_MS = 6_000;
const LIST_EVERY_MS = 25;
const TOKEN_EVERY_MS = 50;
const UNLIMITED = {
  PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '1000000000',
  PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '1000000000',
};

type Tenant = { organizationGuid: string; bankGuid: string; clientId: string; secret: string; token: string };
type Figures = { p50: number; p99: number; errors: number; calls: number };

/** One tenant's p99 while another floods lists over many connections, compared with the same tenant alone. */
export async function benchTenants(context: Context): Promise<Figure[]> {
  const { resources, size, rounds, progress } = context;
  const { url, databaseUrl } = await startHttpServer(resources, { clients: 1, settings: UNLIMITED });
  const [flooding, other] = [await createTenant(url), await createTenant(url)];
  await createObjects(databaseUrl, flooding, size(OBJECTS));
  await createObjects(databaseUrl, other, 1_000);
  await measure(url, other);
  const ratios: { lists: number; tokens: number }[] = [];
  const count = rounds(ROUNDS);
  for (let round = 1; round <= count; round += 1) {
    const alone = await measure(url, other);
    const flood = startFlood(url, flooding);
    await pause(500);
    const flooded = await measure(url, other);
    const { non2xx, '2xx': served, errors: broken } = await flood;
    const errors = flooded.lists.errors + flooded.tokens.errors;
    if (errors > 0) throw new Error(`${errors} calls of the other tenant failed`);
    ratios.push({
      lists: flooded.lists.p99 / alone.lists.p99,
      tokens: flooded.tokens.p99 / alone.tokens.p99,
    });
    progress(
      `round ${round} of ${count}: lists ${figures(alone.lists, flooded.lists)}; tokens ${figures(alone.tokens, flooded.tokens)}; the flood had ${served} answers and ${non2xx + broken} refusals`,
    );
  }
  const lists = median(ratios.map((ratio) => ratio.lists));
  const tokens = median(ratios.map((ratio) => ratio.tokens));
  return [{ name: 'tenants p99', value: Math.max(lists, tokens), details: { lists, tokens } }];
}

function startFlood(url: string, { token, bankGuid }: Tenant) {
  const headers = { authorization: `Bearer ${token}` };
  const queries = [
    'state=failed',
    'state=failed,holding,pending',
    `state=reviewing&bank_guid=${bankGuid}`,
    'created_at_gte=2020-01-01T00:00:00Z&created_at_lt=2021-01-01T00:00:00Z',
    'per_page=100',
  ];
  return autocannon({
    url,
    connections: FLOOD_CONNECTIONS,
    duration: (ROUND_MS + 1_000) / 1_000,
    workers: 1,
    requests: queries.map((query) => ({ method: 'GET', path: `/api/transfers?${query}`, headers })),
  });
}

/** At a fixed rate, independent of the response times, so that queueing is measured too. */
async function measure(url: string, tenant: Tenant): Promise<{ lists: Figures; tokens: Figures }> {
  const until = performance.now() + ROUND_MS;
  const list = () =>
    fetch(`${url}/api/transfers?state=completed`, { headers: { authorization: `Bearer ${tenant.token}` } });
  const token = () => requestToken(url, tenant);
  const [lists, tokens] = await Promise.all([
    pace(list, LIST_EVERY_MS, until),
    pace(token, TOKEN_EVERY_MS, until),
  ]);
  return { lists, tokens };
}

async function pace(call: () => Promise<Response>, everyMs: number, until: number): Promise<Figures> {
  const times: number[] = [];
  let errors = 0;
  const calls: Promise<void>[] = [];
  for (let next = performance.now(); next < until; next += everyMs) {
    await pause(Math.max(0, next - performance.now()));
    calls.push(
      (async () => {
        const started = performance.now();
        const response = await call();
        await response.arrayBuffer();
        if (!response.ok) errors += 1;
        times.push(performance.now() - started);
      })().catch(() => {
        errors += 1;
      }),
    );
  }
  await Promise.all(calls);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), errors, calls: times.length };
}

function figures(alone: Figures, flooded: Figures): string {
  const ms = ({ p50, p99 }: Figures) => `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms`;
  return `${ms(alone)} alone, ${ms(flooded)} flooded, ${flooded.errors} errors`;
}

async function createTenant(url: string): Promise<Tenant> {
  const operate = async (path: string, body: object) => {
    const response = await fetch(`${url}/operator${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${OPERATOR_TOKEN}` },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Record<string, string>;
  };
  const { guid: organizationGuid = '' } = await operate('/organizations', { name: 'Bench' });
  const bank = await operate(`/organizations/${organizationGuid}/banks`, {
    name: 'Bench',
    environment: 'sandbox',
  });
  const key = await operate(`/organizations/${organizationGuid}/applications`, { name: 'Bench' });
  const tenant = {
    organizationGuid,
    bankGuid: bank.guid ?? '',
    clientId: key.client_id ?? '',
    secret: key.client_secret ?? '',
  };
  const response = await requestToken(url, tenant);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return { ...tenant, token };
}

function requestToken(
  url: string,
  { clientId, secret }: Pick<Tenant, 'clientId' | 'secret'>,
): Promise<Response> {
  const grant = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret };
  return fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...grant, scope: 'transfers:read' }),
  });
}

/** One per second, ending now, all completed. */
async function createObjects(
  databaseUrl: string,
  { organizationGuid, bankGuid }: Tenant,
  count: number,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `insert into objects (guid, organization_guid, environment, bank_guid, type, state, details, labels,
                          created_at, updated_at)
     select (lpad(to_hex($3::bigint - n * 1000), 12, '0') || '7000' || '8' || substr(md5($1::uuid::text || n), 1, 15))::uuid,
       $1::uuid, 'sandbox', $2::uuid, 'transfer', 'completed',
       '{"transfer_type": "book", "asset": "USD", "amount": 100}', '{}', moment, moment
     from generate_series(1, $4::int) as n, to_timestamp(($3::bigint - n * 1000) / 1000.0) as moment`,
      [organizationGuid, bankGuid, Date.now(), count],
    );
    await client.query('vacuum analyze objects');
  } finally {
    await client.end();
  }
}
