import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { allScopes } from '../../server/tokens/scopes.ts';
import { ask, type Service, startScript, startService } from '../webhooks/service.ts';
import { attacksOnBody, attacksOnFiles, attacksOnHead, attacksOnQuery, type Route } from './corpus.ts';
import type { Stall } from './probe.ts';
import { type Attack, send } from './sending.ts';

const MUST_ADD_AT_MOST_MS = 50;
const AIM_ADD_AT_MOST_MS = 15;
/** A stall of ours is in every round; what the machine does beside is not. So rounds go on until one is good. */
const MAX_ROUNDS = 10;
const AT_ONCE = 4;
const IDLE_MS = 1_000;
const IDLE_ROUNDS = 3;
/** Inline files that one Organization sends at the same time. */
const FILES_AT_ONCE = 12;

/** Refusals count against these; here they shall all be read. */
const UNLIMITED = {
  PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '1000000000',
  PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '1000000000',
  PORTICO_RATE_LIMIT_LOGIN_PER_ADDRESS: '1000000000',
};

type Group = { name: string; attacks: Attack[]; atOnce?: number };

/** The longest that `/healthz` takes beside the worst requests of each route, against an idle process. */
export async function benchHostile(): Promise<boolean> {
  const service = await startService(UNLIMITED);
  const probe = startScript('../hostile/probe.ts', service.url);
  try {
    await once(probe, 'message');
    const groups = await groupsOf(service);
    process.stdout.write('\nhostile: the longest answer of /healthz beside an attack - beside nothing\n');
    const idle = await leastOf(() => delay(IDLE_MS), probe, 0, IDLE_ROUNDS);
    process.stdout.write(`  beside nothing: ${idle.toFixed(1)} ms\n`);
    let most = 0;
    for (const { name, attacks, atOnce = AT_ONCE } of groups) {
      const added = Math.max(
        0,
        (await leastOf(() => sendAll(service, attacks, atOnce), probe, idle + AIM_ADD_AT_MOST_MS)) - idle,
      );
      most = Math.max(most, added);
      if (added > AIM_ADD_AT_MOST_MS) process.stdout.write(`  ${name}: +${added.toFixed(1)} ms\n`);
      if (added > MUST_ADD_AT_MOST_MS) await tellWhich(service, attacks, probe, idle);
    }
    const verdict =
      most <= AIM_ADD_AT_MOST_MS ? 'reaches the aim' : most <= MUST_ADD_AT_MOST_MS ? 'enough' : 'TOO SLOW';
    const goals = `must ${MUST_ADD_AT_MOST_MS}, aim ${AIM_ADD_AT_MOST_MS}`;
    process.stdout.write(
      `  ${groups.length} groups, at most +${most.toFixed(1)} ms (${goals}): ${verdict}\n`,
    );
    return most <= MUST_ADD_AT_MOST_MS;
  } finally {
    probe.disconnect();
    await service.stop();
  }
}

/** The longest answer of the best round; no further ones once it is no longer than `goodMs`. */
async function leastOf(
  work: () => Promise<unknown>,
  probe: ChildProcess,
  goodMs: number,
  rounds = MAX_ROUNDS,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && least > goodMs; round += 1) {
    await ask<Stall>(probe, 'take');
    await work();
    least = Math.min(least, (await ask<Stall>(probe, 'take')).longestMs);
  }
  return least;
}

async function sendAll({ url }: Service, attacks: readonly Attack[], atOnce: number): Promise<void> {
  const waiting = attacks.values();
  const target = new URL(url);
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const attack of waiting) await send(target, attack);
    }),
  );
}

/** Each attack of a group that was too slow by itself. */
async function tellWhich(
  service: Service,
  attacks: readonly Attack[],
  probe: ChildProcess,
  idle: number,
): Promise<void> {
  for (const attack of attacks) {
    const added =
      (await leastOf(() => sendAll(service, [attack], 1), probe, idle + AIM_ADD_AT_MOST_MS)) - idle;
    if (added > AIM_ADD_AT_MOST_MS) process.stdout.write(`    ${attack.name}: +${added.toFixed(1)} ms\n`);
  }
}

async function groupsOf(service: Service): Promise<Group[]> {
  const partner = await createPartner(service);
  const token = readFileSync(join(service.dataDir, 'data', 'operator.token'), 'utf8').trim();
  const ofPartner = { authorization: `Bearer ${partner.token}` };
  const ofOperator = { authorization: `Bearer ${token}` };
  const headersOf = (path: string) =>
    path.startsWith('/operator/') ? ofOperator : path.startsWith('/api/') ? ofPartner : {};
  const routes = await routesOf(service);
  const inline = attacksOnFiles(partner.customerGuid, ofPartner);
  return [
    { name: 'addresses and headers', attacks: attacksOnHead() },
    { name: 'queries', attacks: attacksOnQuery(ofPartner) },
    ...routes.map((route) => ({
      name: `${route.method} ${route.path}`,
      attacks: attacksOnBody(route, headersOf(route.path)),
    })),
    ...routes
      .filter(({ path }) => path.startsWith('/api/') || path.startsWith('/operator/'))
      .slice(0, 2)
      .map((route) => ({ name: `${route.path} without a token`, attacks: attacksOnBody(route, {}) })),
    ...inline.map((attack) => ({ name: attack.name, attacks: [attack] })),
    {
      name: `${FILES_AT_ONCE} inline files at once`,
      attacks: Array.from({ length: FILES_AT_ONCE }, () => inline[0] as Attack),
      atOnce: FILES_AT_ONCE,
    },
  ];
}

type Document = {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
};
type Schema = { properties?: Record<string, { type?: string }> };

/** Every route that takes JSON, with the texts that are in it. */
async function routesOf({ url }: Service): Promise<Route[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      if (!schema) return [];
      const fields = Object.entries(schema.properties ?? {}).filter(([, { type }]) => type === 'string');
      return [{ method: method.toUpperCase(), path, fields: fields.map(([name]) => name) }];
    }),
  );
}

/** A token that may call nearly everything, so that bodies are read. */
async function createPartner(service: Service): Promise<{ token: string; customerGuid: string }> {
  const input = { name: 'Bench', features: ['files', 'webhooks'] };
  const organization = await service.operate('POST', '/organizations', input);
  const path = `/organizations/${organization.guid}`;
  const bank = await service.operate('POST', `${path}/banks`, { name: 'Bench', environment: 'sandbox' });
  const key = await service.operate('POST', `${path}/applications`, { name: 'Bench' });
  const issued = await service.call('POST', '/oauth/token', undefined, {
    grant_type: 'client_credentials',
    client_id: key.client_id,
    client_secret: key.client_secret,
    scope: allScopes().join(' '),
  });
  const token = String(issued.access_token);
  const customer = { type: 'individual', bank_guid: bank.guid };
  const { guid } = await service.call('POST', '/api/customers', token, customer);
  return { token, customerGuid: String(guid) };
}
