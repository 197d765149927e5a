import type pg from 'pg';
import type { Random } from '../machine/random.ts';
import { enter } from '../machine/rest.ts';
import type { Owner, Scheduler } from '../machine/scheduler.ts';
import { checksum, type Trace } from '../machine/trace.ts';
import { type Backend, createBackends, type Executed } from './backend.ts';
import {
  type Connection,
  describeUnit,
  isUnpredictable,
  type Link,
  newConnection,
  noteStatement,
  takeCut,
} from './connection.ts';
import { createConstantAnswers } from './constant-answers.ts';
import { assertNoDeadlock, executedUnlessBlocked } from './locks.ts';
import { collectNotifications } from './notifications.ts';
import { SimulatedStream } from './stream.ts';
import { createUnitReader, fatal, loginAnswer, type Unit } from './wire.ts';

export type SimulatedDatabase = ReturnType<typeof createSimulatedDatabase>;

/** The server's own limits, in virtual time. */
const STATEMENT_TIMEOUT_MS = 15_000;
const IDLE_IN_TRANSACTION_MS = 15_000;
/** After this time the server notices that a client is gone. */
const KEEPALIVE_MS = 60_000;
const SLOW_MS = 200;

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
  const constants = createConstantAnswers();
  const connections = new Set<Connection>();
  const countOf = new Map<Owner, number>();
  let serving = 0;
  const told: { owner: Owner; tell(): void }[] = [];

  /** Code of nodes runs after the work with the server, or its order would depend on the server's speed. */
  async function serve(work: () => void | Promise<void>): Promise<void> {
    serving += 1;
    await work();
    serving -= 1;
    if (serving === 0) for (const { owner, tell } of told.splice(0)) if (!owner.isDead) enter(owner, tell);
  }

  function inform(owner: Owner, tell: () => void): void {
    told.push({ owner, tell });
  }

  const latency = (link: Link) =>
    (random.chance(0.02) ? random.next() * SLOW_MS : 0.1 + random.next() * 1.5) + link.extraMs;

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

  function schedule(connection: Connection, what: string, run: () => void | Promise<void>): void {
    const { owner, link } = connection;
    const label = `${connection.name} ${what}`;
    scheduler.add(latency(link), { owner, label, run: () => serve(run) });
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

  function fail({ owner, stream }: Connection, code: string, text: string): void {
    inform(owner, () => void stream.destroy(Object.assign(new Error(text), { code })));
  }

  function releaseLater(connection: Connection): void {
    const [unit] = connection.units;
    if (!unit || connection.isReleaseScheduled || connection.isOver) return;
    connection.isReleaseScheduled = true;
    const { owner, link } = connection;
    scheduler.add(latency(link), {
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
    await execute(connection, unit);
    if (cut) {
      note(connection, `cut after: ${what}`);
      return sever(connection);
    }
    releaseLater(connection);
  }

  function note(connection: Connection, what: string): void {
    trace.add(scheduler.now(), connection.owner.name, `${connection.name} ${what}`);
  }

  async function execute(connection: Connection, unit: Unit): Promise<void> {
    const backend = connection.backend as Backend;
    if (/^listen /i.test(unit.text)) connection.isListening = true;
    connection.executed += 1;
    const request = isUnpredictable(unit) ? '' : ` ${checksum(unit.bytes)}`;
    const known = constants.answerTo(connection, unit);
    const executing = { unit, request, result: known ? Promise.resolve(known) : backend.execute(unit.bytes) };
    connection.executing = executing;
    const executed = known ?? (await ended(connection, backend, executing.result));
    if (executed) {
      constants.learn(connection, unit, executed);
      return finish(connection, executed);
    }
    connection.isBlocked = true;
    note(connection, `waits for a lock: ${unit.text.slice(0, 100)}${request}`);
    scheduler.add(STATEMENT_TIMEOUT_MS, {
      ...{ kind: 'timer', owner: undefined, label: undefined },
      async run() {
        if (connection.executing !== executing) return;
        await side.query('select pg_cancel_backend($1)', [backend.processId]);
        await executing.result;
        await serve(settleBlocked);
      },
    });
    if ([...connections].filter(({ isBlocked }) => isBlocked).length > 1) await assertNoDeadlock(side);
  }

  /** Undefined when the statement waits for a lock, which only another transaction or a statement that waits can hold. */
  function ended(connection: Connection, backend: Backend, result: Promise<Executed>) {
    for (const other of connections)
      if (other !== connection && (other.status !== 'I' || other.isBlocked))
        return executedUnlessBlocked(side, backend, result);
    return result;
  }

  async function finish(connection: Connection, { bytes, status, rows }: Executed): Promise<void> {
    const { owner, backend, executing } = connection;
    if (!executing) return;
    const { unit, request } = executing;
    connection.executing = undefined;
    connection.isBlocked = false;
    const response = isUnpredictable(unit) ? '' : ` → ${checksum(bytes)}`;
    note(connection, `${describeUnit(connection, unit).slice(0, 140)}${request}${response}`);
    noteStatement(connection, unit, rows);
    connection.status = status;
    if (owner.isDead) return;
    answer(connection, bytes);
    const own = backend?.takeNotifications() ?? [];
    for (const notification of own) answer(connection, notification);
    if (status !== 'I') watchIdleTransaction(connection);
    if (unit.text.includes('pg_notify')) await collectNotifications(connections, answer);
    if (status === 'I') await settleBlocked();
  }

  /** Statements that a commit has unblocked run on the server at once: waits until each has ended or waits again. */
  async function settleBlocked(): Promise<void> {
    for (const connection of connections) {
      if (!connection.isBlocked || !connection.executing || !connection.backend) continue;
      const executed = await executedUnlessBlocked(side, connection.backend, connection.executing.result);
      if (!executed) continue;
      await finish(connection, executed);
      releaseLater(connection);
    }
  }

  /** In order; mostly in the same step, because what happens between a statement and its answer is a rare interleaving. */
  function answer(connection: Connection, bytes: Buffer): void {
    const { owner, link, stream } = connection;
    connection.answers.push(bytes);
    const deliver = () => {
      const next = connection.answers.shift();
      if (next && !connection.isSilent && !connection.isOver) inform(owner, () => stream.deliver(next));
    };
    if (connection.answers.length === 1 && link.extraMs === 0 && random.chance(0.7)) deliver();
    else
      scheduler.add(latency(link), { owner, label: `${connection.name} answer`, run: () => serve(deliver) });
  }

  function watchIdleTransaction(connection: Connection): void {
    if (connection.isWatched) return;
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
    const { backend, executing } = connection;
    if (!backend) return;
    if (executing) {
      await side.query('select pg_cancel_backend($1)', [backend.processId]);
      connection.status = (await executing.result).status;
    }
    await backends.giveBack(backend, connection.status);
    await settleBlocked();
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
  };
}
