import { join } from 'node:path';
import type pg from 'pg';
import type { CompleteConfig } from '../../server/infrastructure/config/generated-secrets.ts';
import { NODES } from '../agenda/agenda.ts';
import { recordReopened } from '../checks/final-states.ts';
import { recordMoves } from '../checks/moves.ts';
import { checkArrival, checkSend } from '../checks/requests.ts';
import { checkUrl } from '../checks/urls.ts';
import { createSimulatedDatabase } from '../database/database.ts';
import { dropFuturePartitions } from '../database/partitions.ts';
import { ignoreServerClock } from '../database/server-clock.ts';
import { createRandom, type Random } from '../machine/random.ts';
import { applySeed, rest } from '../machine/rest.ts';
import { createScheduler, type Owner } from '../machine/scheduler.ts';
import { createTrace } from '../machine/trace.ts';
import { createEndpoints } from '../network/endpoints.ts';
import { createModel, Violation } from './model.ts';
import { createNode, type Node } from './node.ts';
import { createSimulatedDisk } from './storage.ts';

export const OPERATOR_TOKEN = 'portico_op_the-operator-token-of-every-seed';
/** Any time does; a fixed one makes runs comparable. The template has the partitions of this week. */
const START = Date.parse('2026-11-15T12:00:00.000Z');

export type World = Awaited<ReturnType<typeof createWorld>>;

/** Nodes, database, endpoints and the model of one seed. */
export async function createWorld({
  seed,
  databaseUrl,
  side,
  config,
  writeTrace,
}: {
  seed: string;
  databaseUrl: string;
  side: pg.Client;
  config: CompleteConfig;
  writeTrace: ((line: string) => void) | undefined;
}) {
  const random: Random = createRandom(seed);
  const trace = createTrace(writeTrace, START);
  const scheduler = createScheduler({ startAt: START, random: random.fork('scheduler'), trace, rest });
  applySeed({ scheduler, random: random.fork('process') });
  const model = createModel();
  await ignoreServerClock(side);
  await dropFuturePartitions(side, new Date(START));
  await recordMoves(side);
  await recordReopened(side);
  let failure: Error | undefined;
  const fail = (error: unknown) => {
    failure ??= error instanceof Error ? error : new Error(String(error));
  };
  const guarded = (check: () => void) => {
    try {
      check();
    } catch (error) {
      fail(error);
    }
  };

  const database = createSimulatedDatabase({
    ...{ url: databaseUrl, side, scheduler, trace, random: random.fork('database') },
  });
  const endpoints = createEndpoints({
    ...{ scheduler, random: random.fork('endpoints') },
    onArrival: (received) => guarded(() => checkArrival(model, received)),
  });
  const disk = createSimulatedDisk({
    ...{ folder: join(config.dataDir, 'files'), scheduler, random: random.fork('disk') },
  });
  const leaseOf = (owner: Owner) => nodes.find((node) => node.owner() === owner)?.lease();
  const nodes: Node[] = Array.from({ length: NODES }, (_, index) => {
    const name = 'abc'[index] as string;
    return createNode({
      ...{ name, config, databaseUrl, database, scheduler, endpoints, disk },
      random: random.fork(name),
      onSend(sent) {
        const request = model.send(sent, leaseOf(sent.node));
        guarded(() => checkSend(model, request, { maxDelayMs: config.retryMaxDelayMs, leaseOf }));
        guarded(() => checkUrl(model, request));
        return request;
      },
      onLog(node, line) {
        const { msg, reason, level } = line;
        trace.add(scheduler.now(), node, `log ${msg}${reason === undefined ? '' : `: ${reason}`}`);
        const isDisk = (line.err as { type?: string } | undefined)?.type === 'StorageError';
        if (Number(level) >= 50 && !isDisk)
          fail(new Violation(`${node} logged an error: ${msg}\n${JSON.stringify(line)}`));
      },
    });
  });
  let actions = 0;
  let sleeping = 0;

  return {
    ...{ random, trace, scheduler, model, database, endpoints, disk, nodes, side, config, startAt: START },
    fail,
    failure: () => failure,
    /** Runs beside others; time does not jump before it ends. */
    run(work: () => Promise<void>): void {
      actions += 1;
      work()
        .catch(fail)
        .finally(() => {
          actions -= 1;
        });
    },
    /** Waits within such work; time may jump to the end. */
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        sleeping += 1;
        scheduler.add(ms, {
          ...{ kind: 'fixed', owner: undefined, label: undefined },
          run() {
            sleeping -= 1;
            resolve();
          },
        });
      }),
    isQuiet: () =>
      actions === sleeping &&
      scheduler.isIdle() &&
      !database.isBlocked() &&
      !database.hasSessionLock() &&
      nodes.every((node) => node.pendingCalls() === 0 && node.isUp() === node.isStarted()),
    async close(): Promise<void> {
      for (const node of nodes) await node.kill();
      await rest();
      applySeed(undefined);
      database.close();
    },
  };
}
