import type { Random } from '../machine/random.ts';
import type { PartAction, Span } from './part-actions.ts';
import { partsOf } from './parts.ts';

/** One entry of a seed's agenda. Faults can be left out one by one, which is how a failing seed is shrunk. */
export type Entry = { at: number; isFault: boolean; action: Action };

export type EndpointPlan =
  | 'healthy'
  | 'rejecting'
  | 'hanging'
  | 'refusing'
  | 'late'
  | 'short'
  | 'flaky'
  | 'asking';

export type Action =
  | { kind: 'events'; tenant: number; count: number; node: number }
  | { kind: 'key'; tenant: number; node: number; isSudden?: boolean }
  | { kind: 'subscribe'; tenant: number; node: number; plan: EndpointPlan }
  | { kind: 'disable' | 'enable' | 'protect' | 'pause' | 'resume'; pick: number; node: number }
  | { kind: 'delete' | 'redeliver' | 'redeliver-foreign'; pick: number; node: number }
  | { kind: 'endpoint'; pick: number; plan: EndpointPlan; ms: number }
  | { kind: 'kill'; node: number; awayMs: number }
  | { kind: 'freeze'; node: number; ms: number }
  | { kind: 'cut'; node: number }
  | { kind: 'commit'; node: number; isExecuted: boolean; statement: string }
  | { kind: 'silence' | 'refuse' | 'slow'; node: number; ms: number; extraMs?: number }
  | { kind: 'outage'; ms: number }
  | { kind: 'skew'; node: number; ms: number }
  | PartAction;

export type Plan = {
  tenants: number;
  retryMaxDelayMs: number;
  /** The days of history that are kept; a short retention passes after the week. */
  retentionDays: number;
  entries: Entry[];
};

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;
/** The shortest that is allowed, in some seeds. */
export const SHORT_RETENTION_DAYS = 8;
const RETENTION_DAYS = 30;
const SHORT_RETENTION = 0.12;
export const NODES = 3;
/** Operators synchronize clocks to well under a second. */
const MAX_SKEW_MS = 400;
/** Statements after which a node holds something in memory that the database has, or the other way round. */
const STATEMENTS = [
  '^commit',
  '^commit of .*claim_\\w+ with rows',
  '^commit of .*complete_',
  'claim_deliveries',
  'insert_deliveries',
  'complete_',
  'fail_deliveries',
  'dispatchers',
];
const BAD_PLANS: readonly EndpointPlan[] = [
  'rejecting',
  'hanging',
  'refusing',
  'late',
  'short',
  'flaky',
  'asking',
];

/** Everything that happens in the week of a seed: a few busy episodes, with long quiet times between them. */
export function createAgenda(random: Random, days: number): Plan {
  const entries: Entry[] = [];
  const add = (at: number, action: Action) => entries.push(entryOf(at, action));
  const tenants = random.integer(2, 3);
  const retryMaxDelayMs = random.pick([10 * MINUTE_MS, 60 * MINUTE_MS, 360 * MINUTE_MS, 1_440 * MINUTE_MS]);
  const episodes = random.integer(2, 3);
  const lengthMs = days * DAY_MS;
  const node = () => random.integer(0, NODES - 1);
  const pick = () => random.integer(0, 1_000);
  const spans: Span[] = [];
  /** Each attempt of a delivery costs statements, so the longest outages belong to the longest delays. */
  const outageMs = () =>
    random.pick([
      1_000,
      10_000,
      60_000,
      retryMaxDelayMs,
      3 * retryMaxDelayMs,
      ...(retryMaxDelayMs === DAY_MS ? [lengthMs] : []),
    ]);

  for (let tenant = 0; tenant < tenants; tenant += 1)
    for (let count = random.integer(1, 2); count > 0; count -= 1)
      add(500 * (tenant + 1) + count * 50, { kind: 'subscribe', tenant, node: node(), plan: 'healthy' });

  // One endpoint stays away for the whole week, so that its subscription fails.
  if (retryMaxDelayMs === DAY_MS)
    add(2_500, {
      kind: 'endpoint',
      pick: pick(),
      plan: random.pick(['refusing', 'rejecting']),
      ms: 2 * lengthMs,
    });

  for (let episode = 0; episode < episodes; episode += 1) {
    const startAt = episode === 0 ? 3_000 : Math.floor(random.next() * lengthMs);
    const spanMs = random.pick([200, 2_000, 8_000]);
    spans.push({ startAt, spanMs });
    const within = () => startAt + Math.floor(random.next() * spanMs);
    for (let count = random.integer(1, 4); count > 0; count -= 1)
      add(within(), {
        ...{ kind: 'events', tenant: random.integer(0, tenants - 1), node: node() },
        count: random.chance(0.25) ? random.integer(6, 12) : random.integer(1, 4),
      });
    for (let count = random.integer(1, 3); count > 0; count -= 1) add(within(), faultOf(random, node));
    if (random.chance(0.6))
      add(within(), { kind: 'endpoint', pick: pick(), plan: random.pick(BAD_PLANS), ms: outageMs() });
    if (random.chance(0.3))
      add(within(), { kind: 'key', tenant: random.integer(0, tenants - 1), node: node() });
    if (random.chance(0.25))
      add(within(), {
        kind: 'subscribe',
        tenant: random.integer(0, tenants - 1),
        node: node(),
        plan: 'healthy',
      });
    if (random.chance(0.6))
      add(within(), {
        kind: random.pick([
          'delete',
          'disable',
          'enable',
          'protect',
          'pause',
          'resume',
          'redeliver',
          'redeliver',
          'redeliver-foreign',
        ] as const),
        ...{ pick: pick(), node: node() },
      });
  }
  // With draws of their own: a new part does not change what else happens in a seed.
  for (const { at, action } of partsOf(random.fork('parts'), spans, lengthMs)) add(at, action);
  const retentionDays = random.fork('retention').chance(SHORT_RETENTION)
    ? SHORT_RETENTION_DAYS
    : RETENTION_DAYS;
  return {
    tenants,
    retryMaxDelayMs,
    retentionDays,
    entries: entries.sort((one, other) => one.at - other.at),
  };
}

const FAULTS: ReadonlySet<string> = new Set([
  ...['kill', 'freeze', 'cut', 'commit', 'silence', 'refuse', 'slow', 'outage', 'skew', 'endpoint'],
  ...['disk', 'clock'],
]);

export function entryOf(at: number, action: Action): Entry {
  return { at, action, isFault: FAULTS.has(action.kind) };
}

function faultOf(random: Random, node: () => number): Action {
  const kind = random.pick([
    ...(['kill', 'kill', 'kill', 'freeze', 'freeze', 'cut', 'commit', 'commit', 'commit', 'commit'] as const),
    ...(['silence', 'refuse', 'slow', 'outage', 'skew'] as const),
  ]);
  const ms = random.integer(500, random.pick([3_000, 15_000, 30_000]));
  switch (kind) {
    case 'kill':
      return {
        kind,
        node: node(),
        awayMs: random.chance(0.2) ? random.integer(1, 10) * 3_600_000 : random.integer(100, 20_000),
      };
    case 'freeze':
      return { kind, node: node(), ms };
    case 'cut':
      return { kind, node: node() };
    case 'commit':
      return { kind, node: node(), isExecuted: random.chance(0.6), statement: random.pick(STATEMENTS) };
    case 'outage':
      return { kind, ms };
    case 'skew':
      return { kind, node: node(), ms: random.integer(-MAX_SKEW_MS, MAX_SKEW_MS) };
    default:
      return { kind, node: node(), ms };
  }
}

export function describe({ kind, ...rest }: Action): string {
  const values = Object.entries(rest).map(([name, value]) => `${name}=${value}`);
  return [kind, ...values].join(' ');
}
