import { setTimeout as delay } from 'node:timers/promises';
import type { Service, Tenant } from './service.ts';
import { callsFor, deliveriesPerSecond, makeAll, type Tenants } from './throughput.ts';

const ENDPOINTS = 1_000;
/** The limit of an Organization. */
const ENDPOINTS_OF_EACH = 5;
const EVENTS = 8_000;
/** The median counts: single rounds of two services differ by a fifth even without hanging endpoints. */
const ROUNDS = 5;
const TENANTS_AT_ONCE = 8;
/** Requests to hanging endpoints are in flight by then and have not timed out yet. */
const UNDER_WAY_AFTER_MS = 1_000;

/**
 * Throughput of healthy endpoints next to 1,000 that never answer, compared with a service without those: the lower of
 * two medians, right after they begin to hang and after a restart.
 */
export async function besideHanging(
  alone: { service: Service; healthy: Tenants },
  beside: { service: Service; healthy: Tenants },
  hook: string,
): Promise<number> {
  process.stdout.write(`  ${ENDPOINTS} hang, from their first event on\n`);
  const hanging = await createHanging(beside.service, hook);
  await makeAll(beside.service, callsFor(beside.service, hanging, EVENTS));
  const first = await compareRounds(alone, beside);
  process.stdout.write('  the same after a restart\n');
  await beside.service.restart();
  await delay(UNDER_WAY_AFTER_MS);
  process.stdout.write('  warming up\n');
  await deliveriesPerSecond(beside.service, beside.healthy);
  return Math.min(first, await compareRounds(alone, beside));
}

async function createHanging(service: Service, hook: string): Promise<Tenants> {
  const tenants: Tenant[] = [];
  let left = ENDPOINTS / ENDPOINTS_OF_EACH;
  const creator = async () => {
    for (; left > 0; ) {
      left -= 1;
      tenants.push(await service.createTenant(`${hook}/hang`, ENDPOINTS_OF_EACH));
    }
  };
  await Promise.all(Array.from({ length: TENANTS_AT_ONCE }, creator));
  return { tenants, endpointsOfEach: ENDPOINTS_OF_EACH };
}

async function compareRounds(
  alone: { service: Service; healthy: Tenants },
  beside: { service: Service; healthy: Tenants },
): Promise<number> {
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    // First, while the hanging requests are in flight.
    const own = await deliveriesPerSecond(beside.service, beside.healthy);
    const reference = await deliveriesPerSecond(alone.service, alone.healthy);
    ratios.push(own / reference);
    const figures = `beside ${Math.round(own)}/s, alone ${Math.round(reference)}/s`;
    process.stdout.write(
      `  round ${round} of ${ROUNDS}: ${figures}, ratio ${(own / reference).toFixed(2)}\n`,
    );
  }
  return ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
