import { setTimeout as delay } from 'node:timers/promises';
import type { Site } from './site.ts';

export type Tenant = { organizationGuid: string; bankGuid: string };
/** Organizations with the same number of endpoints, each of which gets all events of its Organization. */
export type Tenants = { tenants: readonly Tenant[]; endpointsOfEach: number };

/** The limit of an Organization. */
export const MAX_ENDPOINTS_OF_EACH = 5;
const TENANTS_AT_ONCE = 8;
const ACTIVE_WITHIN_MS = 60_000;
const ACTIVE_POLL_MS = 50;

/** `endpoints` in total, all active: each has answered its first event. */
export async function createTenants(
  site: Site,
  url: string,
  { endpoints = 10, endpointsOfEach = 1 }: { endpoints?: number; endpointsOfEach?: number } = {},
): Promise<Tenants> {
  const tenants: Tenant[] = [];
  let left = Math.ceil(endpoints / endpointsOfEach);
  const creator = async () => {
    for (; left > 0; ) {
      left -= 1;
      tenants.push(await createTenant(site, url, endpointsOfEach));
    }
  };
  await Promise.all(Array.from({ length: TENANTS_AT_ONCE }, creator));
  return { tenants, endpointsOfEach };
}

async function createTenant(site: Site, url: string, endpoints: number): Promise<Tenant> {
  const organization = await site.operate('POST', '/organizations', { name: 'Bench' });
  const path = `/organizations/${organization.guid}`;
  const bank = await site.operate('POST', `${path}/banks`, { name: 'Bench', environment: 'sandbox' });
  const subscription = { type: 'webhook', name: 'Bench', url, environment: 'sandbox' };
  for (let n = 0; n < endpoints; n += 1) await site.operate('POST', `${path}/subscriptions`, subscription);
  await untilActive(site, path);
  return { organizationGuid: String(organization.guid), bankGuid: String(bank.guid) };
}

async function untilActive(site: Site, path: string): Promise<void> {
  for (const giveUpAt = Date.now() + ACTIVE_WITHIN_MS; Date.now() < giveUpAt; await delay(ACTIVE_POLL_MS))
    if ((await site.operate('GET', `${path}/subscriptions?state=storing`)).total === 0) return;
  throw new Error('an endpoint did not answer its first event');
}
