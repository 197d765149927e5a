import type { Random } from '../machine/random.ts';
import { type Action, createAgenda, type Entry, entryOf, NODES, type Plan } from './agenda.ts';

/** Actions that meet a certain moment of a delivery, a key or a file. Drawn one by one, they would rarely meet it. */
type Coincidence = readonly { inMs: number; action: Action }[];

/** Of each seed, at calls that report events. */
const COUNT = 2;
/** The chance of one more, which needs no certain moment of a delivery. */
const EXTRA_CHANCE = 0.5;

/** The first subscription belongs to the first tenant. */
const TENANT = 0;
const PICK = 0;

type Draw = (random: Random, nodes: { one: number; other: number }) => Coincidence;

/** Events of one node, most of which reach the endpoint while the next entries happen. */
const burst = (random: Random, node: number) =>
  ({ kind: 'events', tenant: TENANT, count: random.integer(8, 12), node }) as const;
const lostAnswer = (node: number, statement: string) =>
  ({ kind: 'commit', node, isExecuted: true, statement }) as const;

/** A key is removed while a node gets its lease again after an outage of its connections. Few moments matter. */
const removalAtReturn: Draw = (random, { one, other }) => {
  const awayMs = random.integer(6_000, 8_000);
  return [
    { inMs: 0, action: { kind: 'refuse', node: one, ms: awayMs } },
    { inMs: awayMs + 1, action: { kind: 'slow', node: one, ms: 6_000, extraMs: 350 } },
    {
      inMs: awayMs + random.integer(1_200, 3_000),
      action: { kind: 'key', tenant: TENANT, node: other, isSudden: true },
    },
  ];
};

const COINCIDENCES: readonly Draw[] = [
  // A node is frozen while it sends, until another has taken over and sends, too.
  (random, { one }) => [
    { inMs: 0, action: { kind: 'endpoint', pick: PICK, plan: 'hanging', ms: 28_000 } },
    { inMs: 1, action: { kind: 'events', tenant: TENANT, count: random.integer(1, 2), node: one } },
    {
      inMs: random.integer(60, 200),
      action: { kind: 'freeze', node: one, ms: random.integer(12_500, 18_000) },
    },
  ],
  // A node is frozen while it records failures, until another has taken over and sends.
  (random, { one }) => [
    { inMs: 0, action: { kind: 'endpoint', pick: PICK, plan: 'rejecting', ms: 2_000 } },
    { inMs: 1, action: { kind: 'events', tenant: TENANT, count: random.integer(1, 3), node: one } },
    {
      inMs: random.integer(5, 40),
      action: { kind: 'freeze', node: one, ms: random.integer(12_500, 18_000) },
    },
    { inMs: 2_100, action: { kind: 'endpoint', pick: PICK, plan: 'hanging', ms: 28_000 } },
  ],
  // A node is killed with deliveries that it has just accepted.
  (random, { one }) => [
    { inMs: 0, action: burst(random, one) },
    { inMs: random.integer(15, 90), action: { kind: 'kill', node: one, awayMs: 60_000 } },
  ],
  // An endpoint is paused at one node while another sends many deliveries to it.
  (random, { one, other }) => [
    { inMs: 0, action: burst(random, one) },
    { inMs: random.integer(5, 60), action: { kind: 'pause', pick: PICK, node: other } },
    { inMs: random.integer(3_000, 9_000), action: { kind: 'resume', pick: PICK, node: other } },
  ],
  // The answer to the commit of the first outcomes of a batch is lost. Its other requests are answered later.
  (random, { one }) => [
    { inMs: 0, action: lostAnswer(one, '^commit of .*complete_batched') },
    { inMs: 0, action: { kind: 'endpoint', pick: PICK, plan: 'flaky', ms: 2_000 } },
    { inMs: 1, action: burst(random, one) },
  ],
  // The answer to the commit of a claim is lost, at every node.
  (random, { one }) => [
    ...[0, 1, 2].map((node) => ({
      inMs: 0,
      action: lostAnswer(node, '^commit of claim_deliveries with rows'),
    })),
    { inMs: 1, action: { kind: 'endpoint', pick: PICK, plan: 'refusing', ms: 1_500 } },
    { inMs: 2, action: { kind: 'events', tenant: TENANT, count: random.integer(1, 4), node: one } },
  ],
  // An endpoint moves to another URL at one node while another sends many deliveries to the old one.
  (random, { one, other }) => [
    { inMs: 0, action: burst(random, one) },
    { inMs: random.integer(5, 60), action: { kind: 'move', pick: PICK, node: other } },
  ],
  removalAtReturn,
];

/** Counting those of both environments, more subscriptions than the Organization may have. */
const SUBSCRIPTIONS_AT_ONCE = 4;

const EXTRA_COINCIDENCES: readonly Draw[] = [
  // An endpoint asks for a pause, time and again.
  (random, { one }) => [
    { inMs: 0, action: { kind: 'endpoint', pick: PICK, plan: 'asking', ms: 40_000 } },
    { inMs: 1, action: { kind: 'events', tenant: TENANT, count: random.integer(1, 2), node: one } },
  ],
  // Each node registers subscriptions of one Organization, until it has as many as it may have.
  () =>
    Array.from({ length: SUBSCRIPTIONS_AT_ONCE }, (_, node) => ({
      inMs: 0,
      action: { kind: 'subscribe', tenant: TENANT, node, plan: 'healthy' } as const,
    })),
  // A node is killed while it receives uploads. A file is uploaded at the node after the one that created it.
  (random, { one }) => [
    ...[0, 1].map(() => ({
      inMs: 0,
      action: { kind: 'file', plan: 'upload', tenant: TENANT, node: one + NODES - 1 } as const,
    })),
    { inMs: random.integer(100, 900), action: { kind: 'kill', node: one, awayMs: 5_000 } },
  ],
];

/** The chance of `moveWhileDisabled`, with draws of its own: it does not change what else happens in a seed. */
const MOVE_CHANCE = 0.3;

/** An endpoint moves to another URL while it is disabled, so that its first event comes with the end of that. */
const moveWhileDisabled: Draw = (random, { one, other }) => [
  { inMs: 0, action: { kind: 'disable', pick: PICK, node: one } },
  { inMs: random.integer(500, 2_000), action: { kind: 'move', pick: PICK, node: other } },
  { inMs: random.integer(3_000, 4_000), action: { kind: 'enable', pick: PICK, node: one } },
  { inMs: random.integer(4_000, 5_000), action: burst(random, other) },
];

/** The agenda of a seed, with coincidences where it reports events. */
export function createPlan(random: Random, days: number): Plan {
  const plan = createAgenda(random, days);
  const own = random.fork('coincidences');
  const starts = own.shuffle(plan.entries.filter(({ action }) => action.kind === 'events'));
  const drawn = [
    ...own.shuffle(COINCIDENCES).slice(0, COUNT),
    ...(own.chance(EXTRA_CHANCE) ? [own.pick(EXTRA_COINCIDENCES)] : []),
  ];
  const entriesOf = (draw: Draw, index: number, source: Random) => {
    const [one, other] = source.shuffle([...Array(NODES).keys()]) as [number, number];
    const { at } = starts[index % starts.length] as Entry;
    return draw(source, { one, other }).map(({ inMs, action }) => entryOf(at + inMs, action));
  };
  const added = drawn.flatMap((draw, index) => entriesOf(draw, index, own));
  const moves = random.fork('move while disabled');
  if (moves.chance(MOVE_CHANCE)) added.push(...entriesOf(moveWhileDisabled, drawn.length, moves));
  return { ...plan, entries: [...plan.entries, ...added].sort((one, two) => one.at - two.at) };
}
