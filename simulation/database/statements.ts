import type pg from 'pg';
import type { Scheduler } from '../machine/scheduler.ts';
import { checksum } from '../machine/trace.ts';
import type { Backend, Executed } from './backend.ts';
import type { ClientNetwork } from './client-network.ts';
import { type Connection, describeUnit, isUnpredictable, noteStatement } from './connection.ts';
import { createConstantAnswers } from './constant-answers.ts';
import { assertNoDeadlock, executedUnlessBlocked } from './locks.ts';
import { collectNotifications } from './notifications.ts';
import { type Unit, withoutTimeouts } from './wire.ts';

/** The server's own limit, in virtual time. */
const STATEMENT_TIMEOUT_MS = 15_000;

/** Executes statements on the server, one at a time; those that wait for a lock are paused until it is free. */
export function createStatements({
  side,
  scheduler,
  network,
  connections,
  note,
  onFinished,
}: {
  side: pg.Client;
  scheduler: Scheduler;
  network: ClientNetwork;
  connections: ReadonlySet<Connection>;
  note(connection: Connection, what: string): void;
  /** A statement that waited for a lock has ended. */
  onFinished(connection: Connection): void;
}) {
  const constants = createConstantAnswers();

  async function execute(connection: Connection, unit: Unit): Promise<void> {
    const backend = connection.backend as Backend;
    if (/^listen /i.test(unit.text)) connection.isListening = true;
    if (/\bpg_try_advisory_lock\b/.test(unit.text)) connection.hasSessionLock = true;
    if (/\bpg_advisory_unlock\b/.test(unit.text)) connection.hasSessionLock = false;
    connection.executed += 1;
    const request = isUnpredictable(unit) ? '' : ` ${checksum(unit.bytes)}`;
    const known = constants.answerTo(connection, unit);
    const executing = {
      unit,
      request,
      result: known ? Promise.resolve(known) : backend.execute(withoutTimeouts(unit.bytes)),
    };
    connection.executing = executing;
    const executed = known ?? (await ended(connection, backend, executing.result));
    if (executed) {
      constants.learn(connection, unit, executed);
      return finish(connection, executed);
    }
    backend.pause();
    connection.isBlocked = true;
    note(connection, `waits for a lock: ${unit.text.slice(0, 100)}${request}`);
    scheduler.add(STATEMENT_TIMEOUT_MS, {
      ...{ kind: 'timer', owner: undefined, label: undefined },
      async run() {
        if (connection.executing !== executing) return;
        await cancel(connection);
        await network.serve(resumeBlocked);
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
    network.answer(connection, bytes);
    const own = backend?.takeNotifications() ?? [];
    for (const notification of own) network.answer(connection, notification);
    if (unit.text.includes('pg_notify')) await collectNotifications(connections, network.answer);
    if (status === 'I') await resumeBlocked();
  }

  /**
   * Resumes the sessions that wait for a lock, one after another: each ends its statement or waits again before the
   * next, or the fastest of those that one commit unblocks would get the next lock.
   */
  async function resumeBlocked(): Promise<void> {
    for (const connection of connections) {
      const { isBlocked, executing, backend } = connection;
      if (!isBlocked || !executing || !backend) continue;
      backend.resume();
      const executed = await executedUnlessBlocked(side, backend, executing.result);
      if (!executed) {
        backend.pause();
        await assertNoDeadlock(side);
      } else {
        await finish(connection, executed);
        onFinished(connection);
      }
    }
  }

  /** Ends the statement that a connection waits for. */
  async function cancel({ backend, executing }: Connection): Promise<Executed | undefined> {
    if (!backend || !executing) return undefined;
    // In this order, or a statement whose lock became free could end before it is cancelled.
    await side.query('select pg_cancel_backend($1)', [backend.processId]);
    backend.resume();
    return await executing.result;
  }

  return { execute, resumeBlocked, cancel };
}
