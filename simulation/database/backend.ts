import type { Socket } from 'node:net';
import pg from 'pg';
import { createPlanned } from './planned.ts';
import { createMessageReader, DATA_ROW, NOTIFICATION, query, READY_FOR_QUERY } from './wire.ts';

/** `I`: idle, `T`: in a transaction, `E`: in a failed transaction. */
export type TransactionStatus = 'I' | 'T' | 'E';
export type Executed = { bytes: Buffer; status: TransactionStatus; rows: number };

/** A session of the real server, whose bytes the simulation sends and receives itself. */
export type Backend = {
  readonly processId: number;
  /** One unit of the protocol; resolves with everything up to ReadyForQuery. */
  execute(bytes: Buffer): Promise<Executed>;
  /** A unit whose answer is known: it is sent with the next one, which saves a round trip. */
  hold(bytes: Buffer): void;
  /** Notifications that have arrived since the last call. */
  takeNotifications(): Buffer[];
  /** While it waits for a lock: the operating system stops the server's process. */
  pause(): void;
  resume(): void;
  /** For another connection. */
  reset(status: TransactionStatus): Promise<void>;
  end(): void;
};

/** As `discard all` does, but without the plans. */
const RESET = `close all; reset all; unlisten *; select pg_advisory_unlock_all();
  discard temporary; discard sequences`;

/** Processes of the server that are stopped. None may stay so, or the server could not end. */
const paused = new Set<number>();

export function resumeAll(): void {
  for (const processId of paused)
    try {
      process.kill(processId, 'SIGCONT');
    } catch {
      // The process has ended.
    }
  paused.clear();
}

type Connected = { processID: number; connection: { stream: Socket } };

async function openBackend(url: string): Promise<Backend> {
  // A plan for all values of the parameters, at once instead of after five executions.
  const client = new pg.Client({ connectionString: url, options: '-c plan_cache_mode=force_generic_plan' });
  client.on('error', () => undefined);
  await client.connect();
  const { processID: processId, connection } = client as unknown as Connected;
  const socket = connection.stream;
  socket.removeAllListeners('data');
  const reader = createMessageReader();
  let answer: Buffer[] = [];
  let notifications: Buffer[] = [];
  let done: ((executed: Executed) => void) | undefined;
  let held: Buffer[] = [];
  let toSkip = 0;
  let rows = 0;
  const planned = createPlanned();
  let answerTo = (bytes: Buffer) => bytes;
  socket.on('data', (chunk: Buffer) => {
    for (const { type, bytes } of reader.read(chunk)) {
      if (type === NOTIFICATION) {
        notifications.push(bytes);
        continue;
      }
      answer.push(bytes);
      if (type === DATA_ROW) rows += 1;
      if (type !== READY_FOR_QUERY) continue;
      if (toSkip > 0) {
        toSkip -= 1;
        rows = 0;
        answer = [];
        continue;
      }
      const executed = {
        rows,
        bytes: answerTo(Buffer.concat(answer)),
        status: String.fromCharCode(bytes[5] as number) as TransactionStatus,
      };
      answer = [];
      rows = 0;
      const resolve = done;
      done = undefined;
      resolve?.(executed);
    }
  });

  function execute(bytes: Buffer): Promise<Executed> {
    if (done) throw new Error('a backend executes one unit at a time');
    return new Promise((resolve) => {
      done = resolve;
      toSkip = held.length;
      const plan = planned.plan(bytes);
      answerTo = plan.answerTo;
      socket.write(toSkip === 0 ? plan.bytes : Buffer.concat([...held, plan.bytes]));
      held = [];
    });
  }

  return {
    processId,
    execute,
    hold: (bytes) => void held.push(bytes),
    pause() {
      paused.add(processId);
      process.kill(processId, 'SIGSTOP');
    },
    resume() {
      if (paused.delete(processId)) process.kill(processId, 'SIGCONT');
    },
    async reset(status) {
      if (status !== 'I') await execute(query('rollback'));
      await execute(query(RESET));
      planned.forgetClient();
      notifications = [];
    },
    takeNotifications() {
      const taken = notifications;
      notifications = [];
      return taken;
    },
    end: () => void socket.destroy(),
  };
}

/**
 * Sessions for one database. A closed connection's session is reset and used again, because a new process of the
 * server costs more CPU than twenty statements; a reset leaves nothing of the session before but plans.
 */
export function createBackends(url: string) {
  const free: Backend[] = [];
  const all: Backend[] = [];
  return {
    async take(): Promise<Backend> {
      const known = free.pop();
      if (known) return known;
      const backend = await openBackend(url);
      all.push(backend);
      return backend;
    },
    async giveBack(backend: Backend, status: TransactionStatus): Promise<void> {
      await backend.reset(status);
      free.push(backend);
    },
    close(): void {
      resumeAll();
      for (const backend of all) backend.end();
    },
  };
}
