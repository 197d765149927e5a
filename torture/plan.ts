import { createRandom } from '../testing/api/random.ts';

export const API_NODES = ['api-1', 'api-2'] as const;
export const NODES = [...API_NODES, 'dispatch-1', 'dispatch-2', 'dispatch-3'] as const;
export type NodeName = (typeof NODES)[number];

/**
 * `stall`: open and new connections to PostgreSQL become silent. `stall-open`: only the open ones, as after a failover
 * without a reset. `reset`: connections are reset and new ones refused.
 */
const DATABASE_FAULTS = ['postgres', 'stall', 'disk', 'reset', 'stall-open'] as const;
const NODE_FAULTS = ['kill', 'terminate'] as const;
export type FaultKind = (typeof DATABASE_FAULTS)[number] | (typeof NODE_FAULTS)[number];

/** `nodes` are the processes that it meets: one, or all. */
export type Fault = {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly durationMs: number;
  readonly nodes: readonly NodeName[];
};

type Range = readonly [leastMs: number, mostMs: number];
const FIRST_AFTER: Range = [2_000, 4_000];
const NODE_FAULT_EVERY: Range = [5_000, 14_000];
const BETWEEN_DATABASE_FAULTS: Range = [6_000, 14_000];
/** A stall beyond the lease of a dispatcher (10 s) makes another one take over. */
const DURATIONS: Record<FaultKind, Range> = {
  kill: [200, 4_000],
  terminate: [0, 2_000],
  postgres: [2_000, 8_000],
  stall: [3_000, 15_000],
  'stall-open': [0, 0],
  reset: [1_000, 6_000],
  disk: [4_000, 12_000],
};
/** Otherwise it meets one process, and the others go on. */
const MEETS_ALL_NODES = 0.4;

export const isOfNode = ({ kind }: Pick<Fault, 'kind'>) => kind === 'kill' || kind === 'terminate';

/**
 * Faults of processes and faults of the database are drawn independently, so that they overlap in every way. Faults of
 * the database do not overlap each other, and each kind occurs once before one occurs again.
 */
export function planFaults(seed: number, lengthMs: number): Fault[] {
  const random = createRandom(seed);
  const between = ([least, most]: Range) => Math.round(least + random() * (most - least));
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
  const faults: Fault[] = [];

  for (let atMs = between(FIRST_AFTER); atMs < lengthMs; atMs += between(NODE_FAULT_EVERY)) {
    const kind = pick(NODE_FAULTS);
    faults.push({ kind, atMs, durationMs: between(DURATIONS[kind]), nodes: [pick(NODES)] });
  }
  let round: FaultKind[] = [];
  for (let atMs = between(FIRST_AFTER); atMs < lengthMs; ) {
    if (round.length === 0) round = [...DATABASE_FAULTS];
    const [kind] = round.splice(Math.floor(random() * round.length), 1) as [FaultKind];
    const durationMs = between(DURATIONS[kind]);
    const isGlobal = kind === 'postgres' || kind === 'disk' || random() < MEETS_ALL_NODES;
    faults.push({ kind, atMs, durationMs, nodes: isGlobal ? NODES : [pick(NODES)] });
    atMs += durationMs + between(BETWEEN_DATABASE_FAULTS);
  }
  return faults.sort((one, other) => one.atMs - other.atMs);
}

const WORDS: Record<FaultKind, (fault: Fault, whom: string) => string> = {
  kill: (_, whom) => `kill -9 ${whom}`,
  terminate: (_, whom) => `SIGTERM ${whom}`,
  postgres: () => 'PostgreSQL stopped with -m immediate',
  stall: (_, whom) => `all connections of ${whom} stall`,
  'stall-open': (_, whom) => `open connections of ${whom} stall`,
  reset: (_, whom) => `connections of ${whom} are reset and refused`,
  disk: () => 'disk of PostgreSQL filled',
};

export function describeFault(fault: Fault): string {
  const whom = fault.nodes.length === NODES.length ? 'all processes' : fault.nodes.join(', ');
  const length = fault.durationMs > 0 ? ` for ${(fault.durationMs / 1_000).toFixed(1)} s` : '';
  return WORDS[fault.kind](fault, whom) + length;
}
