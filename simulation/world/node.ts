import type { InjectOptions } from 'fastify';
import { type App, createApp } from '../../server/app.ts';
import type { CompleteConfig } from '../../server/infrastructure/config/generated-secrets.ts';
import type { Clock, Timers } from '../../server/infrastructure/runtime/clock.ts';
import { createLog } from '../../server/infrastructure/runtime/log.ts';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import type { Link } from '../database/connection.ts';
import type { SimulatedDatabase } from '../database/database.ts';
import type { Random } from '../machine/random.ts';
import { enter } from '../machine/rest.ts';
import type { Owner, Scheduler } from '../machine/scheduler.ts';
import type { Endpoints } from '../network/endpoints.ts';
import { createSimulatedSender } from '../network/sender.ts';
import { sendUpload, type Upload } from '../network/upload.ts';
import { simulatedPasswordHasher } from './password-hasher.ts';
import type { SimulatedDisk } from './storage.ts';

export type Reply = { status: number; body: Record<string, unknown>; cookie: string | undefined };
/** `lost`: the node was killed, or the caller gave up; what happened is unknown. */
export type CallResult = Reply | 'lost';

type Life = {
  owner: Owner;
  app: App | undefined;
  /** From the beginning of its start on, in which its dispatcher sends already. */
  lease(): string | undefined;
  upAt: number;
  link: Link;
  pending: Set<() => void>;
};

export type Node = ReturnType<typeof createNode>;

type Deps = {
  name: string;
  config: CompleteConfig;
  databaseUrl: string;
  database: SimulatedDatabase;
  scheduler: Scheduler;
  random: Random;
  endpoints: Endpoints;
  disk: SimulatedDisk;
  onSend: Parameters<typeof createSimulatedSender>[0]['onSend'];
  onLog(node: string, line: Record<string, unknown>): void;
};

const RESTART_AFTER_MS = 1_000;
/** A caller waits this long for an answer. */
const CALL_TIMEOUT_MS = 40_000;

/** A process of the service that can be killed at any step and started again. */
export function createNode(deps: Deps) {
  const { name, config, databaseUrl, database, scheduler, endpoints, disk, onSend, onLog } = deps;
  let life: Life | undefined;
  let lives = 0;
  /** How far the clock of this host is ahead of the virtual time. */
  let skewMs = 0;

  const clock: Clock = { now: () => new Date(Math.floor(scheduler.now() + skewMs)) };

  function timersOf(owner: Owner): Timers {
    return {
      after: (ms, action) =>
        scheduler.add(ms, {
          ...{ kind: 'timer', owner, label: `timer of ${ms} ms` },
          run: () => enter(owner, action),
        }),
    };
  }

  async function boot(own: Life): Promise<App> {
    const { owner, link } = own;
    const random = deps.random.fork(owner.name);
    const timers = timersOf(owner);
    const log = createLog({
      ...{ level: 'info', terminal: false },
      destination: { write: (line) => onLog(owner.name, JSON.parse(line)) },
    });
    const app = await createApp({
      ...{ config, clock, timers, log, databaseUrl: new Secret(databaseUrl) },
      databaseTimers: timers,
      databaseStream: database.streamFor(owner, link),
      wrapStorage: (storage) => disk.storageOf(owner, storage),
      randomBytes: random.bytes,
      operatorOnMainPort: true,
      passwordHasher: simulatedPasswordHasher,
      resolve: async () => ['192.0.2.1'],
      sender: createSimulatedSender({ owner, clock, scheduler, random, endpoints, onSend }),
    });
    own.lease = () => app.dispatcher.holder();
    // As `serve` does.
    await app.partitions.prepare();
    await app.signingKeys.current();
    await app.dispatcher.start();
    app.fileProcessing.start();
    await app.simulator.start();
    await app.revocations.start();
    app.alertsModule.notifier.start({ withSlack: true });
    app.nodeTasks.start();
    app.clusterTasks.start();
    return app;
  }

  function start(): void {
    if (life) return;
    lives += 1;
    const owner: Owner = { name: `${name}.${lives}`, isDead: false, frozenUntil: 0 };
    const link: Link = { isRefusing: false, isSilent: false, extraMs: 0, cuts: [] };
    const own: Life = {
      ...{ owner, link, app: undefined, lease: () => undefined },
      ...{ upAt: Number.POSITIVE_INFINITY, pending: new Set() },
    };
    life = own;
    void enter(owner, () =>
      boot(own).then(
        (app) => {
          own.app = app;
          own.upAt = scheduler.now();
        },
        // As a supervisor does.
        (error: unknown) => {
          onLog(owner.name, { level: 40, msg: 'start failed', reason: String(error) });
          if (owner.isDead) return;
          // A step of its own: later steps wait until the server has ended the sessions.
          scheduler.add(0, {
            ...{ owner: undefined, label: `${name} exits` },
            async run() {
              await kill();
              restartLater();
            },
          });
        },
      ),
    );
  }

  function restartLater(inMs = RESTART_AFTER_MS): void {
    scheduler.add(inMs, { kind: 'fixed', owner: undefined, label: `${name} starts`, run: start });
  }

  async function kill(): Promise<void> {
    const killed = life;
    if (!killed) return;
    life = undefined;
    killed.owner.isDead = true;
    for (const lose of killed.pending) lose();
    await database.dropAll(killed.owner);
  }

  /** Ends with `lost` when the node is killed or the caller gives up. */
  function answered<Result>(
    send: (app: App, owner: Owner) => Promise<Result | 'lost'>,
  ): Promise<Result | 'lost'> {
    const current = life;
    const app = current?.app;
    if (!current || !app) return Promise.resolve('lost');
    const { owner, pending } = current;
    return new Promise((resolve) => {
      const lose = () => finish('lost');
      const finish = (result: Result | 'lost') => {
        pending.delete(lose);
        cancel();
        resolve(result);
      };
      const cancel = scheduler.add(CALL_TIMEOUT_MS, {
        ...{ kind: 'timer', owner: undefined, label: `${name} call timed out` },
        run: lose,
      });
      pending.add(lose);
      void enter(owner, () =>
        send(app, owner).then((result) => {
          if (!owner.isDead) finish(result);
        }, lose),
      );
    });
  }

  return {
    name,
    clock,
    start,
    restartLater,
    kill,
    owner: () => life?.owner,
    link: () => life?.link,
    isUp: () => life?.app !== undefined,
    /** Since when it runs, without being frozen; Infinity if it does not. */
    runsSince(): number {
      if (!life || life.owner.frozenUntil > scheduler.now()) return Number.POSITIVE_INFINITY;
      return Math.max(life.upAt, life.owner.frozenUntil);
    },
    /** The guid under which its dispatcher leases deliveries; undefined while its lease may have expired. */
    lease: () => life?.lease(),
    isStarted: () => life !== undefined,
    setSkew(ms: number): void {
      skewMs = ms;
    },
    skew: () => skewMs,

    /** Uses the modules of the node directly. */
    ask: <Result>(question: (app: App) => Promise<Result>): Promise<Result | 'lost'> => answered(question),
    call: (options: InjectOptions): Promise<CallResult> =>
      answered(async ({ server }) => {
        const { statusCode: status, body, headers } = await server.inject(options);
        const [cookie] = [headers['set-cookie']].flat();
        return { status, body: body.startsWith('{') ? JSON.parse(body) : {}, cookie: cookie?.split(';')[0] };
      }),
    upload: (upload: Upload): Promise<number | 'lost'> =>
      answered(async (app, owner) => {
        await app.server.ready();
        return sendUpload(app, owner, scheduler, upload);
      }),
    pendingCalls: () => life?.pending.size ?? 0,
  };
}
