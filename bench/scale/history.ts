import type { Context, Figure } from '../runner/benchmark.ts';
import type { FigureName } from '../runner/targets.ts';
import { compareRounds, percentile } from '../shared/rounds.ts';
import { type Site, startSite } from '../shared/site.ts';
import { openStage } from '../shared/stage.ts';
import { createTenants, type Tenant, type Tenants } from '../shared/tenants.ts';
import { DAY_MS, RARE_EVENT_TYPE, seedHistory } from './seed.ts';

const SPAN_MS = 27 * DAY_MS;
const DELIVERIES = 40_000;
/** Enough for full pages, a deep one and the largest total that a list counts, so that both sides return the same. */
const SMALL_ROWS_OF_EACH = 12_000;
const TENANTS = 10;
const READS = 300;
const ROUNDS = 3;
const SETTINGS = { PORTICO_RATE_LIMIT_API: '1000000000' };

type Paths = Record<Exclude<Extract<FigureName, `history ${string}`>, 'history throughput'>, string>;
type Side = { site: Site; tenants: Tenants; token: string; paths: Paths };

/** A service with a large history, compared with one that has hardly any. */
export async function benchHistory(context: Context): Promise<Figure[]> {
  const { resources, size, historyRows, progress } = context;
  const stage = await openStage(resources);
  const small = await open(context, stage.hook, Math.min(historyRows, SMALL_ROWS_OF_EACH * TENANTS));
  const large = await open(context, stage.hook, historyRows);
  const rate = ({ site, tenants }: Side) => stage.deliveriesPerSecond(site, tenants, size(DELIVERIES));
  const figures: Figure[] = [];
  const names = ['large', 'small'] as const;
  // Before the writes, which would add newer rows to the pages that are read.
  for (const name of Object.keys(large.paths) as (keyof Paths)[]) {
    progress(name);
    for (const side of [small, large]) await p99(side, name, size(READS));
    const { ratio, ...details } = await compareRounds(context, {
      rounds: ROUNDS,
      own: () => p99(large, name, size(READS)),
      reference: () => p99(small, name, size(READS)),
      names,
      unit: ' ms',
    });
    figures.push({ name, value: ratio, details });
  }
  progress('throughput, warming up');
  for (const side of [small, large]) await rate(side);
  const { ratio, ...details } = await compareRounds(context, {
    own: () => rate(large),
    reference: () => rate(small),
    names,
  });
  return [{ name: 'history throughput', value: ratio, details }, ...figures];
}

async function open(context: Context, hook: string, rows: number): Promise<Side> {
  const site = await startSite(context.resources, { settings: SETTINGS });
  const tenants = await createTenants(site, `${hook}/`, { endpoints: TENANTS });
  const { organizationGuid } = tenants.tenants[0] as Tenant;
  const path = `/organizations/${organizationGuid}`;
  const bank = { name: 'Rare', environment: 'sandbox' };
  const rareBankGuid = String((await site.operate('POST', `${path}/banks`, bank)).guid);
  context.progress(`writing ${rows} deliveries of ${SPAN_MS / DAY_MS} days`);
  await seedHistory(context, site, tenants, { rows, spanMs: SPAN_MS, rareBankGuid });
  const key = await site.operate('POST', `${path}/applications`, { name: 'Bench' });
  const { access_token: token } = await site.call('POST', '/oauth/token', undefined, {
    grant_type: 'client_credentials',
    client_id: key.client_id,
    client_secret: key.client_secret,
    scope: 'subscription_events:read',
  });
  const paths = await pathsOf(site, organizationGuid, rareBankGuid);
  return { site, tenants, token: String(token), paths };
}

async function pathsOf(site: Site, organizationGuid: string, rareBankGuid: string): Promise<Paths> {
  // In the middle of the history of the tenant.
  const [deep] = await site.query<{ guid: string; event_guid: string; object_guid: string }>(
    `select guid, event_guid, object_guid from deliveries where organization_guid = $1 and completed_at is not null
     order by guid offset (select count(*) / 2 from deliveries where organization_guid = $1) limit 1`,
    [organizationGuid],
  );
  const guidOf = (uuid: string | undefined) => String(uuid).replaceAll('-', '');
  const deliveries = '/api/subscription_deliveries';
  return {
    'history list p99': deliveries,
    'history filter p99': `${deliveries}?state=completed&event_type=transfer.completed`,
    'history get p99': `${deliveries}/${guidOf(deep?.guid)}`,
    'history deep page p99': `${deliveries}?after=${guidOf(deep?.guid)}`,
    'history rare event_type p99': `${deliveries}?event_type=${RARE_EVENT_TYPE}`,
    'history rare bank_guid p99': `${deliveries}?bank_guid=${rareBankGuid}`,
    'history object_guid p99': `/api/subscription_events?object_guid=${guidOf(deep?.object_guid)}`,
  };
}

async function p99({ site, token, paths }: Side, name: keyof Paths, reads: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < reads; n += 1) {
    const startedAt = performance.now();
    await site.call('GET', paths[name], token);
    times.push(performance.now() - startedAt);
  }
  return percentile(times, 0.99);
}
