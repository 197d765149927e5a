import type pg from 'pg';
import type { Random } from '../machine/random.ts';
import type { Owner, Scheduler } from '../machine/scheduler.ts';
import type { Trace } from '../machine/trace.ts';
import { createBackends } from './backend.ts';
import { createClientNetwork } from './client-network.ts';
import { type Connection, describeUnit, type Link, newConnection, takeCut } from './connection.ts';
import { createStatements } from './statements.ts';
import { SimulatedStream } from './stream.ts';
import { createUnitReader, fatal, loginAnswer } from './wire.ts';

export type SimulatedDatabase = ReturnType<typeof createSimulatedDatabase>;

/** The server's own limit, in virtual time. */
const IDLE_IN_TRANSACTION_MS = 15_000;
/** After this time the server notices that a client is gone. */
const KEEPALIVE_MS = 60_000;

/** The real database behind a simulated network. Holds each statement and each answer until the scheduler runs it. */
export function createSimulatedDatabase({
  url,
  side,
  scheduler,
  random,
  trace,
}: {
  url: string;
  /** A superuser's connection to the same database, outside of the simulation. */
  side: pg.Client;
  scheduler: Scheduler;
  random: Random;
  trace: Trace;
}) {
  const backends = createBackends(url);
  const connections = new Set<Connection>();
  const countOf = new Map<Owner, number>();
  const network = createClientNetwork({ scheduler, random });
  const { serve, inform, schedule, fail, answer } = network;
  const statements = createStatements({
    ...{ side, scheduler, network, connections, note },
    onFinished(connection) {
      watchIdleTransaction(connection);
      releaseLater(connection);
    },
  });

  function open(owner: Owner, link: Link): SimulatedStream {
    return new SimulatedStream((stream) => {
      const number = (countOf.get(owner) ?? 0) + 1;
      countOf.set(owner, number);
      const connection = newConnection({ owner, link, stream, name: `c${number}` });
      connections.add(connection);
      const reader = createUnitReader();
      return {
        connect: () => schedule(connection, 'connect', () => accept(connection)),
        write(chunk) {
          if (connection.isOver || owner.isDead) return;
          for (const unit of reader.read(chunk)) connection.units.push(unit);
          releaseLater(connection);
        },
        closed() {
          if (connection.isOver || owner.isDead || connection.isSilent) return;
          schedule(connection, 'close', () => end(connection));
        },
      };
    });
  }

  function accept(connection: Connection): void {
    const { link, stream, owner } = connection;
    if (link.isSilent) return;
    if (!link.isRefusing) {
      inform(owner, () => void stream.emit('connect'));
      return;
    }
    connection.isOver = true;
    connections.delete(connection);
    fail(connection, 'ECONNREFUSED', 'connect ECONNREFUSED');
  }

  function releaseLater(connection: Connection): void {
    const [unit] = connection.units;
    // Statements behind one that waits for a lock wait for it.
    if (!unit || connection.isReleaseScheduled || connection.isOver || connection.executing) return;
    connection.isReleaseScheduled = true;
    const { owner, link } = connection;
    scheduler.add(network.latency(link), {
      ...{ owner, label: undefined },
      async run() {
        connection.isReleaseScheduled = false;
        await serve(() => release(connection));
      },
    });
  }

  async function release(connection: Connection): Promise<void> {
    const unit = connection.units.shift();
    if (!unit || connection.isOver || connection.isSilent) return;
    if (unit.kind === 'terminate') return end(connection);
    if (unit.kind === 'startup') {
      connection.backend = await backends.take();
      note(connection, 'login');
      return answer(connection, loginAnswer(connections.size));
    }
    const cut = takeCut(connection, unit);
    cut?.onCut();
    if (cut && !cut.isExecuted) {
      note(connection, `cut before: ${describeUnit(connection, unit).slice(0, 80)}`);
      return sever(connection);
    }
    const what = describeUnit(connection, unit).slice(0, 80);
    await statements.execute(connection, unit);
    watchIdleTransaction(connection);
    if (cut) {
      note(connection, `cut after: ${what}`);
      return sever(connection);
    }
    releaseLater(connection);
  }

  function note(connection: Connection, what: string): void {
    trace.add(scheduler.now(), connection.owner.name, `${connection.name} ${what}`);
  }

  function watchIdleTransaction(connection: Connection): void {
    if (connection.isWatched || connection.status === 'I') return;
    connection.isWatched = true;
    const { executed } = connection;
    scheduler.add(IDLE_IN_TRANSACTION_MS, {
      ...{ kind: 'timer', owner: undefined, label: undefined },
      async run() {
        connection.isWatched = false;
        if (connection.isOver || connection.status === 'I') return;
        if (connection.executed !== executed) return watchIdleTransaction(connection);
        note(connection, 'idle-in-transaction timeout');
        await serve(async () => {
          await drop(connection);
          if (connection.isSilent) return;
          const text = 'terminating connection due to idle-in-transaction timeout';
          inform(connection.owner, () => connection.stream.deliver(fatal('25P03', text)));
          fail(connection, 'ECONNRESET', 'read ECONNRESET');
        });
      },
    });
  }

  /** Ends the session on the server; its locks are free when this returns. */
  async function drop(connection: Connection): Promise<void> {
    if (connection.isOver) return;
    connection.isOver = true;
    connections.delete(connection);
    const { backend } = connection;
    if (!backend) return;
    const cancelled = await statements.cancel(connection);
    Object.assign(connection, { executing: undefined, isBlocked: false });
    await backends.giveBack(backend, cancelled?.status ?? connection.status);
    await statements.resumeBlocked();
  }

  async function end(connection: Connection): Promise<void> {
    await drop(connection);
    inform(connection.owner, () => void connection.stream.destroy());
  }

  async function sever(connection: Connection): Promise<void> {
    await drop(connection);
    fail(connection, 'ECONNRESET', 'read ECONNRESET');
  }

  const connectionsOf = (owner: Owner) => [...connections].filter((each) => each.owner === owner);

  return {
    streamFor: (owner: Owner, link: Link) => () => open(owner, link),
    /** Cuts every connection of a node. */
    async cutAll(owner: Owner): Promise<void> {
      await serve(async () => {
        for (const connection of connectionsOf(owner)) await sever(connection);
      });
    },
    /** The network loses every connection of a node without a word, like a NAT entry that has expired. */
    silenceAll(owner: Owner): void {
      for (const connection of connectionsOf(owner)) {
        connection.isSilent = true;
        scheduler.add(KEEPALIVE_MS, {
          ...{ kind: 'timer', owner: undefined, label: undefined },
          run: () => serve(() => drop(connection)),
        });
      }
    },
    /** For a killed node: the server notices that its connections are closed. */
    async dropAll(owner: Owner): Promise<void> {
      await serve(async () => {
        for (const connection of connectionsOf(owner)) await drop(connection);
      });
    },
    close: () => backends.close(),
    isBlocked: () => [...connections].some(({ isBlocked }) => isBlocked),
    /** A host that is suspended for hours would keep the lock: the server drops it after a minute. */
    hasSessionLock: () => [...connections].some(({ hasSessionLock }) => hasSessionLock),
  };
}
