import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { besideHanging } from './hanging.ts';
import { measureLatency } from './latency.ts';
import { ask, type Service, startScript, startService } from './service.ts';
import {
  callsFor,
  completed,
  createTenants,
  deliveriesPerSecond,
  makeAll,
  type Tenants,
  untilCompleted,
} from './throughput.ts';

const ROUNDS = 3;
const WAITING = 100_000;
/** For a hanging endpoint and one that refuses connections: more than their lanes hold. */
const STUCK = 10_000;
const MUST = 0.9;
const AIM = 1;
const MUST_P99 = 1.5;
const AIM_P99 = 1.1;
/** Smaller differences are noise of the machine. */
const UNFELT_MS = 10;
const MUST_DRAIN = 0.7;
const AIM_DRAIN = 0.9;
const LOOK_FOR_RECOVERY_MS = 20;

type Site = { service: Service; healthy: Tenants };

/**
 * The effect of failing endpoints on healthy ones: a service with failing endpoints and one without, alternately; then
 * how fast a backlog is sent after recovery.
 */
export async function benchNeighbours(): Promise<boolean> {
  const receiver = startScript('./receiver.ts');
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const hook = `http://127.0.0.1:${port}`;
  const alone = await open(hook);
  const beside = await open(hook);
  try {
    process.stdout.write('\nneighbours: with sick endpoints beside ÷ without\n  warming up\n');
    for (const { service, healthy } of [alone, beside]) await deliveriesPerSecond(service, healthy);
    await fill(beside.service, `${hook}/hang`, STUCK);
    await fillRefused(beside.service, STUCK);
    const isFair = await compare('one hangs, one refuses', alone, beside);
    const isPrompt = await compareLatency(alone, beside, receiver, hook);
    await fill(beside.service, `${hook}/sick`, WAITING);
    const isFairStill = await compare(`and ${WAITING} wait for a third that answers 503`, alone, beside);
    const isQuick = await drain(alone, beside, receiver);
    const isKept = await compareHanging(alone, beside, hook);
    return isFair && isPrompt && isFairStill && isQuick && isKept;
  } finally {
    await Promise.all([alone.service.stop(), beside.service.stop()]);
    receiver.disconnect();
  }
}

async function open(hook: string): Promise<Site> {
  const service = await startService();
  return { service, healthy: await createTenants(service, hook, 1) };
}

async function fill(service: Service, url: string, events: number, onActive?: () => void): Promise<void> {
  const tenants = { tenants: [await service.createTenant(url, 1)], endpointsOfEach: 1 };
  onActive?.();
  await makeAll(service, callsFor(service, tenants, events));
}

/** An endpoint that answers its first event and then closes its port. */
async function fillRefused(service: Service, events: number): Promise<void> {
  const server = createServer((_, response) => void response.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await fill(service, `http://127.0.0.1:${port}`, events, () => {
    server.close();
    server.closeAllConnections();
  });
}

async function compare(title: string, alone: Site, beside: Site): Promise<boolean> {
  process.stdout.write(`  ${title}\n`);
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const reference = await deliveriesPerSecond(alone.service, alone.healthy);
    const own = await deliveriesPerSecond(beside.service, beside.healthy);
    ratios.push(own / reference);
    const figures = `beside ${Math.round(own)}/s, alone ${Math.round(reference)}/s`;
    process.stdout.write(`  round ${round} of ${ROUNDS}: ${figures}, ratio ${ratioText(own / reference)}\n`);
  }
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  return judge(`ratio ${ratioText(median)}`, median, MUST, AIM);
}

/** The lower of two medians: right after the endpoints begin to hang, and after a restart. */
async function compareHanging(alone: Site, beside: Site, hook: string): Promise<boolean> {
  const least = await besideHanging(alone, beside, hook);
  return judge(`ratio ${ratioText(least)}`, least, MUST, AIM);
}

async function compareLatency(
  alone: Site,
  beside: Site,
  receiver: ChildProcess,
  hook: string,
): Promise<boolean> {
  const reference = await measureLatency(alone.service, receiver, hook);
  const own = await measureLatency(beside.service, receiver, hook);
  const isUnfelt = own.p99 - reference.p99 <= UNFELT_MS;
  const ratio = own.p99 / reference.p99;
  const verdict = isUnfelt || ratio <= AIM_P99 ? 'aim reached' : ratio <= MUST_P99 ? 'enough' : 'TOO SLOW';
  const figures = `p99 beside ${own.p99.toFixed(1)} ms, alone ${reference.p99.toFixed(1)} ms`;
  const goals = `must ${MUST_P99}, aim ${AIM_P99}, or ${UNFELT_MS} ms more at most`;
  process.stdout.write(`  ${figures}, ratio ${ratioText(ratio)} (${goals}): ${verdict}\n`);
  return isUnfelt || ratio <= MUST_P99;
}

/**
 * From the first success after the recovery to the last, compared with the throughput of new events in the other
 * service.
 */
async function drain(alone: Site, { service }: Site, receiver: ChildProcess): Promise<boolean> {
  const reference = await deliveriesPerSecond(alone.service, alone.healthy);
  const before = await completed(service);
  await ask(receiver, 'recover');
  while ((await completed(service)) === before) await delay(LOOK_FOR_RECOVERY_MS);
  const startedAt = performance.now();
  await untilCompleted(service, before + WAITING, startedAt);
  const own = WAITING / ((performance.now() - startedAt) / 1_000);
  const figures = `${Math.round(own)}/s of what waited, ${Math.round(reference)}/s of new events`;
  return judge(
    `recovered: ${figures}, ratio ${ratioText(own / reference)}`,
    own / reference,
    MUST_DRAIN,
    AIM_DRAIN,
  );
}

function judge(figures: string, ratio: number, must: number, aim: number): boolean {
  const verdict = ratio >= aim ? 'aim reached' : ratio >= must ? 'enough' : 'TOO SLOW';
  process.stdout.write(`  ${figures} (must ${ratioText(must)}, aim ${ratioText(aim)}): ${verdict}\n`);
  return ratio >= must;
}

function ratioText(ratio: number): string {
  return ratio.toFixed(2);
}
