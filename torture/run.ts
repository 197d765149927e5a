import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ensureDashboardBuild } from '../server/dashboard/build.ts';
import { plantInProcess } from '../simulation/planted/run.ts';
import { createCaller } from './calls.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { compare } from './comparison.ts';
import { mountDisk } from './disk.ts';
import { startGuard } from './guarding.ts';
import { createInjector } from './inject.ts';
import { type Load, startLoad } from './load.ts';
import type { Options } from './options.ts';
import { planFaults } from './plan.ts';
import type { End } from './portico-process.ts';
import { clockText, describeProgress, describeRun } from './report.ts';
import { createTenants } from './tenants.ts';
import { problemsIn } from './verdict.ts';

const PROGRESS_EVERY_MS = 5_000;
const WARM_UP_MS = 3_000;
const ACCEPTED_WITHIN_MS = 90_000;
const DRAIN_WITHIN_MS = 120_000;
const POLL_EVERY_MS = 500;
const WAITING = `select (select count(*) from delivery_queue) + (select count(*) from delivery_batches)
  + (select count(*) from objects where type = 'transfer' and state <> 'completed')`;

/** Returns whether all promises were kept. */
export async function runTorture(options: Options, signal: AbortSignal): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-torture-'));
  // As root, PostgreSQL runs as another user, who needs access.
  chmodSync(folder, 0o711);
  let passed = false;
  try {
    passed = await runIn(folder, options, signal);
  } finally {
    if (signal.aborted || (passed && !options.keep))
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    else say(`Logs: ${folder}\n`);
  }
  return passed;
}

async function runIn(folder: string, options: Options, signal: AbortSignal): Promise<boolean> {
  const { seed, rate, minutes, bug } = options;
  await using resources = new AsyncDisposableStack();
  await ensureDashboardBuild(say);
  const dataDir = join(folder, 'disk', 'data');
  const guard = startGuard({ folder, dataDir });
  resources.defer(guard.stop);
  const disk = await mountDisk(join(folder, 'disk'));
  const hasDisk = typeof disk !== 'string';
  if (hasDisk)
    resources.defer(async () => {
      await copyFile(join(dataDir, 'postgres.log'), join(folder, 'postgres.log')).catch(() => undefined);
      await disk.unmount();
    });

  const ends: End[] = [];
  const errors = new Map<string, number>();
  const cluster = await startCluster({
    ...{ folder, resources, guard, signal, dataDir, environment: bug ? plantInProcess(bug) : {} },
    onEnd: (end) => void ends.push(end),
    onError: (_, message) => void errors.set(message, (errors.get(message) ?? 0) + 1),
  });
  await cluster.startApi();
  const { tenants, endpoints } = await createTenants(cluster.addresses()[0], cluster.receivers.url);
  cluster.receivers.expect(endpoints);
  await cluster.startDispatchers();

  const startedAt = Date.now();
  const note = (text: string) => say(`${clockText(Date.now() - startedAt)}  ${text}\n`);
  note(`2 api and 3 dispatch processes for ${minutes} min, seed ${seed}`);
  if (bug) note(`planted bug: ${bug.name}`);
  const caller = createCaller(cluster.addresses(), signal);
  const load = startLoad({ caller, tenants, rate, seed });
  resources.defer(load.stop);
  const progress = setInterval(() => note(`  ${progressOf(cluster, load, caller)}`), PROGRESS_EVERY_MS);
  resources.defer(() => clearInterval(progress));

  const injector = createInjector({ cluster, disk: hasDisk ? disk : undefined, signal, note });
  await delay(WARM_UP_MS, undefined, { signal });
  const faultsFrom = Date.now();
  const until = faultsFrom + minutes * 60_000;
  await injector.run(planFaults(seed, minutes * 60_000));
  await delay(Math.max(0, until - Date.now()), undefined, { signal });
  const faultsTo = Date.now();

  note('faults are over: draining');
  load.stop();
  caller.giveUpAt(faultsTo + ACCEPTED_WITHIN_MS);
  for (const name of cluster.processes.keys()) await cluster.untilReady(name);
  await load.finish();
  const waiting = await drain(cluster, signal);
  const drainMs = Date.now() - faultsTo;
  clearInterval(progress);
  await Promise.all([...cluster.processes.values()].map((each) => each.stop()));

  const figures = {
    comparison: compare(load.sent, endpoints, await cluster.receivers.readLog()),
    ...{ answers: caller.answers, faults: injector.past, outages: injector.outages, ends, waiting },
    ...{ sent: load.sent, seed, rate, faultsMs: faultsTo - faultsFrom, drainMs, errors },
    ...{ neverAccepted: load.counts.neverAccepted, acceptedBefore: load.counts.acceptedBefore },
    ...{ lostAnswers: caller.counts.lost, unreachable: caller.counts.unreachable },
    ...{ skipped: injector.skipped, noDiskReason: hasDisk ? undefined : disk },
  };
  say(`\n${describeRun(figures)}\n`);
  return problemsIn(figures).length === 0;
}

function progressOf({ receivers, processes }: Cluster, load: Load, caller: ReturnType<typeof createCaller>) {
  return describeProgress({
    acknowledged: load.counts.acknowledged,
    received: receivers.arrivals(),
    inFlight: caller.counts.inFlight,
    refused: caller.answers.filter(({ status }) => status === 503).length,
    down: [...processes.values()].filter((each) => !each.isServing()).map(({ name }) => name),
  });
}

/** Returns what is unfinished when the time is over. */
async function drain({ postgres }: Cluster, signal: AbortSignal): Promise<number> {
  for (const giveUpAt = Date.now() + DRAIN_WITHIN_MS; ; await delay(POLL_EVERY_MS, undefined, { signal })) {
    const waiting = await postgres.select(WAITING);
    if (waiting === 0 || Date.now() > giveUpAt) return waiting;
  }
}

function say(text: string): void {
  process.stdout.write(text);
}
