import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { inlineReferences } from '../../server/infrastructure/http/openapi/references.ts';
import type { Context, Figure } from '../runner/benchmark.ts';
import { TARGETS } from '../runner/targets.ts';
import { ask, startScript } from '../shared/children.ts';
import { median } from '../shared/rounds.ts';
import { OPERATOR_TOKEN, type Site, startSite } from '../shared/site.ts';
import { createFounders, createPartner } from './callers.ts';
import {
  attacksByPipelining,
  attacksOnBody,
  attacksOnFiles,
  attacksOnHead,
  attacksOnQuery,
  type Route,
} from './corpus.ts';
import type { Stall } from './probe.ts';
import { type Attack, send } from './sending.ts';

const { must: MUST_MS, aim: AIM_MS } = TARGETS.hostile;
/** The median counts: a single round may be slow because of the machine. */
const ROUNDS = 5;
const AT_ONCE = 4;
const IDLE_MS = 1_000;
/** Concurrent inline files of one Organization. */
const FILES_AT_ONCE = 12;

/** Rejections count against these limits; the benchmark needs every body to be read. */
const UNLIMITED = {
  PORTICO_RATE_LIMIT_API: '1000000000',
  PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '1000000000',
  PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '1000000000',
  PORTICO_RATE_LIMIT_CUSTOMER_TOKEN: '1000000000',
  PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000000000',
  PORTICO_RATE_LIMIT_LOGIN_PER_EMAIL: '1000000000',
};

/** Statuses that are sent before a body is read. */
const UNREAD = new Set([401, 403, 429]);

type Group = {
  name: string;
  /** Created for each round, because credentials expire. */
  attacks(): Promise<Attack[]>;
  atOnce?: number;
  /** Whether its bodies have to be read. */
  isAuthenticated?: boolean;
};
type Bench = {
  site: Site;
  probe: ChildProcess;
  rounds: number;
  progress: Context['progress'];
};
type Delay = { median: number; longest: number };

/**
 * The slowest response of `/healthz` during the most expensive requests of each route, compared with an idle process.
 */
export async function benchHostile({ resources, rounds, progress }: Context): Promise<Figure[]> {
  const site = await startSite(resources, { settings: UNLIMITED });
  const { child: probe } = await startScript(resources, 'hostile/probe.ts', site.url);
  const bench = { site, probe, rounds: rounds(ROUNDS), progress };
  const groups = await groupsOf(site);
  const { median: idle } = await stallOf(bench, async () => () => delay(IDLE_MS));
  progress(`idle: ${idle.toFixed(1)} ms`);
  let most = 0;
  for (const group of groups) {
    const { median: added } = await tell(bench, group, idle);
    most = Math.max(most, added);
    if (added > MUST_MS) await tellWhich(bench, group, idle);
  }
  return [{ name: 'hostile', value: most, details: { idle, groups: groups.length } }];
}

/** The slowest response of each round, after one warm-up round. */
async function stallOf(
  { probe, rounds }: Bench,
  prepare: () => Promise<() => Promise<unknown>>,
): Promise<Delay> {
  const stalls: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const work = await prepare();
    await ask<Stall>(probe, 'take');
    await work();
    const { longestMs } = await ask<Stall>(probe, 'take');
    if (round > 0) stalls.push(longestMs);
  }
  return { median: median(stalls), longest: Math.max(...stalls) };
}

/** The time that a group adds to an idle process, printed when it exceeds the aim. */
async function tell(
  bench: Bench,
  { name, attacks, atOnce = AT_ONCE, isAuthenticated = false }: Group,
  idle: number,
): Promise<Delay> {
  const statuses = new Set<number | undefined>();
  const stall = await stallOf(bench, async () => {
    const prepared = await attacks();
    return () => sendAll(bench.site, prepared, atOnce, statuses);
  });
  const added = { median: Math.max(0, stall.median - idle), longest: Math.max(0, stall.longest - idle) };
  if (added.longest > AIM_MS)
    bench.progress(`${name}: +${added.median.toFixed(1)} ms, longest +${added.longest.toFixed(1)} ms`);
  if (isAuthenticated && [...statuses].every((status) => status !== undefined && UNREAD.has(status)))
    bench.progress(`${name}: no body was read, only ${[...statuses].join(', ')}`);
  return added;
}

async function sendAll(
  { url, operatorUrl }: Site,
  attacks: readonly Attack[],
  atOnce: number,
  statuses: Set<number | undefined>,
): Promise<void> {
  const waiting = attacks.values();
  const [main, operator] = [new URL(url), new URL(operatorUrl)];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const attack of waiting)
        statuses.add(await send(attack.bytes.includes(' /operator/') ? operator : main, attack));
    }),
  );
}

/** Prints each attack of a group that is too slow by itself. */
async function tellWhich(bench: Bench, group: Group, idle: number): Promise<void> {
  for (const [index, { name }] of (await group.attacks()).entries()) {
    const attacks = async () => (await group.attacks()).slice(index, index + 1);
    await tell(bench, { name: `  ${name}`, attacks, atOnce: 1 }, idle);
  }
}

async function groupsOf(site: Site): Promise<Group[]> {
  const partner = await createPartner(site);
  const logIn = createFounders(site, partner.organizationGuid);
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  const headersOf = async ({ path, isForUsers }: Route): Promise<Record<string, string>> => {
    if (path.startsWith('/operator/')) return bearer(OPERATOR_TOKEN);
    if (path.startsWith('/dashboard/')) return { cookie: (await logIn()).cookie };
    if (!path.startsWith('/api/')) return {};
    return bearer(isForUsers ? (await logIn()).token : partner.token);
  };
  const routes = await routesOf(site);
  const inline = attacksOnFiles(partner.customerGuid, bearer(partner.token));
  return [
    { name: 'paths and headers', attacks: async () => attacksOnHead() },
    { name: 'queries', attacks: async () => attacksOnQuery(bearer(partner.token)) },
    { name: 'pipelined requests', attacks: async () => attacksByPipelining(bearer(partner.token)) },
    ...routes.map((route) => ({
      name: `${route.method} ${route.path}`,
      attacks: async () => attacksOnBody(route, await headersOf(route)),
      isAuthenticated: true,
    })),
    ...routes
      .filter(({ path }) => path.startsWith('/api/') || path.startsWith('/operator/'))
      .slice(0, 2)
      .map((route) => ({
        name: `${route.path} without a token`,
        attacks: async () => attacksOnBody(route, {}),
      })),
    ...inline.map((attack) => ({ name: attack.name, attacks: async () => [attack] })),
    {
      name: `${FILES_AT_ONCE} concurrent inline files`,
      attacks: async () => Array.from({ length: FILES_AT_ONCE }, () => inline[0] as Attack),
      atOnce: FILES_AT_ONCE,
    },
  ];
}

type Operation = {
  requestBody?: { content: Record<string, { schema: Schema }> };
  'x-token-types'?: readonly string[];
};
type Document = { paths: Record<string, Record<string, Operation>> };
type Schema = { properties?: Record<string, { type?: string }> };

/** Every route that takes JSON, with its string fields. */
async function routesOf({ url, operatorUrl }: Site): Promise<Route[]> {
  const documents = await Promise.all(
    [`${url}/openapi.json`, `${operatorUrl}/operator/openapi.json`].map(
      async (address) => inlineReferences((await (await fetch(address)).json()) as Document).paths,
    ),
  );
  return documents.flatMap(Object.entries<Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, 'x-token-types': types }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      if (!schema) return [];
      const fields = Object.entries(schema.properties ?? {}).filter(([, { type }]) => type === 'string');
      const isForUsers = types?.includes('user') === true && !types.includes('organization');
      return [{ method: method.toUpperCase(), path, fields: fields.map(([name]) => name), isForUsers }];
    }),
  );
}
