import { once } from 'node:events';
import type { BareRun } from './bare-posts.ts';
import { timeToArrival } from './latency.ts';
import { ask, type Service, startScript, startService } from './service.ts';
import { createTenants, DELIVERIES, deliveriesPerSecond, ENDPOINTS, type Tenants } from './throughput.ts';

const ROUNDS = 5;
const MUST = 0.5;
const AIM = 0.75;

/**
 * Events accepted over HTTP, posted, signed and recorded, compared with a loop that only posts to the same receiver;
 * then the time from the call to the arrival.
 */
export async function benchWebhooks(): Promise<boolean> {
  const receiver = startScript('./receiver.ts');
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const hook = `http://127.0.0.1:${port}`;
  const bare = startScript('./bare-posts.ts');
  const service = await startService();
  const barePerSecond = async () =>
    DELIVERIES / (await ask<number>(bare, { url: hook, posts: DELIVERIES } satisfies BareRun));
  try {
    process.stdout.write('\nwebhooks: durable deliveries/s ÷ a bare undici POST loop to the same receiver\n');
    process.stdout.write('  warming up\n');
    await barePerSecond();
    await deliveriesPerSecond(service, await createTenants(service, hook, 5));
    const single = await compare(service, await createTenants(service, hook, 1), barePerSecond);
    const fanned = await compare(service, await createTenants(service, hook, 5), barePerSecond);
    const isQuick = await timeToArrival(service, receiver, hook);
    return single >= MUST && fanned >= MUST && isQuick;
  } finally {
    await service.stop();
    bare.disconnect();
    receiver.disconnect();
  }
}

/**
 * Runs the service and the reference alternately, so that other load on the machine affects both; the median of the
 * ratios.
 */
async function compare(
  service: Service,
  tenants: Tenants,
  barePerSecond: () => Promise<number>,
): Promise<number> {
  const { endpointsOfEach: each } = tenants;
  process.stdout.write(`  ${ENDPOINTS} endpoints, each event goes to ${each === 1 ? 'one' : each} of them\n`);
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const reference = await barePerSecond();
    const own = await deliveriesPerSecond(service, tenants);
    ratios.push(own / reference);
    const figures = `portico ${Math.round(own)}/s, bare ${Math.round(reference)}/s`;
    process.stdout.write(
      `  round ${round} of ${ROUNDS}: ${figures}, ratio ${(own / reference).toFixed(2)}\n`,
    );
  }
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  const verdict = median >= AIM ? 'aim reached' : median >= MUST ? 'enough' : 'TOO SLOW';
  process.stdout.write(`  ratio ${median.toFixed(2)} (must ${MUST}, aim ${AIM}): ${verdict}\n`);
  return median;
}
