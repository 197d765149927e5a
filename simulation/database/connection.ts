import type { Owner } from '../machine/scheduler.ts';
import type { Backend, Executed, TransactionStatus } from './backend.ts';
import type { SimulatedStream } from './stream.ts';
import type { Unit } from './wire.ts';

/** How the network between a node and the database behaves, by the faults of the agenda. */
export type Link = {
  /** New connections are refused. */
  isRefusing: boolean;
  /** New connections get no answer. */
  isSilent: boolean;
  /** Added to the latency of statements and answers. */
  extraMs: number;
  /** The next statements that match are cut off, before or after the server has executed them. */
  cuts: { matches: RegExp; isExecuted: boolean; onCut(): void }[];
};

/** A connection of a node, between its client and a session of the server. */
export type Connection = {
  owner: Owner;
  link: Link;
  name: string;
  stream: SimulatedStream;
  backend: Backend | undefined;
  status: TransactionStatus;
  units: Unit[];
  answers: Buffer[];
  executing: { unit: Unit; request: string; result: Promise<Executed> } | undefined;
  isBlocked: boolean;
  isListening: boolean;
  /** The network has lost it: nothing arrives any more, and neither end is told. */
  isSilent: boolean;
  /** Both ends are gone. */
  isOver: boolean;
  isReleaseScheduled: boolean;
  /** An advisory lock that does not end with its transaction, or an attempt at one. */
  hasSessionLock: boolean;
  isWatched: boolean;
  /** Counts executed units, to find out whether a transaction is idle. */
  executed: number;
  /** Names of the prepared statements of its transaction, and whether they have returned rows. */
  statements: string[];
};

export function newConnection(parts: Pick<Connection, 'owner' | 'link' | 'name' | 'stream'>): Connection {
  return {
    ...parts,
    ...{ backend: undefined, status: 'I', units: [], answers: [], executing: undefined, executed: 0 },
    ...{ statements: [] },
    ...{ isBlocked: false, isListening: false, isSilent: false, isOver: false },
    ...{ isReleaseScheduled: false, isWatched: false, hasSessionLock: false },
  };
}

/** Contains keys of the operating system's random source, or measured durations. */
export function isUnpredictable({ text }: Unit): boolean {
  return /\bsigning_keys\b|insert_requests|request_log/.test(text);
}

/** A commit with the statements of its transaction, as `commit of claim_deliveries`. */
export function describeUnit({ statements }: Connection, { text }: Unit): string {
  return text === 'commit' && statements.length > 0 ? `commit of ${statements.join()}` : text;
}

/** To be called while `status` is the one before the statement. */
export function noteStatement({ status, statements }: Connection, { text }: Unit, rows: number): void {
  if (status === 'I') statements.length = 0;
  const name = /\bprepared: (\w+)/.exec(text)?.[1];
  if (name !== undefined) statements.push(rows > 0 ? `${name} with rows` : name);
}

/** The cut that this statement meets, which happens once. */
export function takeCut(connection: Connection, unit: Unit) {
  const { cuts } = connection.link;
  if (cuts.length === 0) return undefined;
  const text = describeUnit(connection, unit);
  const index = cuts.findIndex(({ matches }) => matches.test(text));
  return index < 0 ? undefined : cuts.splice(index, 1)[0];
}
