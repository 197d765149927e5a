import type { Random } from '../machine/random.ts';
import { FILE_PLANS, type PartAction, type Span } from './part-actions.ts';
import { type ObjectType, PATHS } from './paths.ts';

type Drawn = PartAction | { kind: 'redeliver-foreign'; pick: number; node: number };
type PartEntry = { at: number; action: Drawn };
type Draws = { random: Random; pick(): number };
/** `isCalm`: away from the faults of the episodes, once. */
type Part = { chance: number; isCalm?: true; actions(draws: Draws): Drawn[] };

const CALM_MS = 600_000;
/** Revocations allow for clocks that differ by three seconds, with the skew of two nodes. */
const MAX_CLOCK_ERROR_MS = 2_000;

const PARTS: readonly Part[] = [
  {
    ...{ chance: 0.3, isCalm: true },
    actions: ({ random, pick }) => [
      {
        ...{ kind: 'burst', pick: pick(), node: pick(), count: random.integer(3, 8) },
        plan: random.pick(['hanging', 'rejecting', 'late']),
      },
    ],
  },
  {
    chance: 0.35,
    actions: ({ random, pick }) =>
      Array.from({ length: random.integer(1, 3) }, () => {
        const type = random.pick(Object.keys(PATHS) as ObjectType[]);
        const isDeleted = type === 'external_bank_account' && random.chance(0.5);
        return {
          ...{ kind: 'object', type, tenant: pick(), node: pick() },
          ending: random.pick(Object.keys(PATHS[type])),
          deleteAfterMs: isDeleted ? random.integer(0, 2_500) : undefined,
        };
      }),
  },
  {
    chance: 0.35,
    actions: ({ random, pick }) => [
      ...Array.from({ length: random.integer(1, 3) }, () => ({
        ...{ kind: 'file' as const, plan: random.pick(FILE_PLANS), tenant: pick(), node: pick() },
      })),
      ...(random.chance(0.2) ? [{ kind: 'disk' as const, ms: random.integer(100, 10_000) }] : []),
    ],
  },
  {
    chance: 0.2,
    actions: ({ random, pick }) => [
      {
        ...{
          kind: 'clock',
          node: pick(),
          ms: random.integer(500, MAX_CLOCK_ERROR_MS) * random.pick([-1, 1]),
        },
        forMs: random.integer(1_000, 20_000),
      },
    ],
  },
  {
    chance: 0.25,
    actions: ({ pick }) => [{ kind: 'move', pick: pick(), node: pick() }],
  },
  {
    chance: 0.35,
    actions: ({ random, pick }) => [
      {
        ...{ kind: 'window', pick: pick(), node: pick() },
        window: random.pick(['failed', 'waiting', 'all', 'all']),
        ageMs: random.pick([10_000, 3_600_000, 6 * 86_400_000, 6 * 86_400_000]),
      },
    ],
  },
  {
    chance: 0.25,
    actions: ({ random, pick }) => [
      {
        ...{ kind: 'member', tenant: pick(), node: pick() },
        ending: random.pick(['removal', 'logout']),
      },
    ],
  },
  {
    chance: 0.2,
    actions: ({ random, pick }) => [
      {
        ...{ kind: 'feature', tenant: pick(), node: pick(), ms: random.integer(0, 5_000) },
        feature: random.pick(['files', 'webhooks']),
      },
    ],
  },
  {
    chance: 0.3,
    actions: ({ pick }) => [{ kind: 'redeliver-foreign', pick: pick(), node: pick() }],
  },
];

export function partsOf(random: Random, spans: readonly Span[], lengthMs: number): PartEntry[] {
  const pick = () => random.integer(0, 1_000);
  function calmTime(): number {
    const at = Math.floor(random.next() * lengthMs);
    return spans.some(({ startAt }) => Math.abs(startAt - at) < CALM_MS) ? calmTime() : at;
  }
  return PARTS.flatMap(({ chance, isCalm, actions }) => {
    if (!random.chance(chance)) return [];
    if (isCalm) return actions({ random, pick }).map((action) => ({ at: calmTime(), action }));
    const first = random.integer(0, spans.length - 1);
    return spans.flatMap(({ startAt, spanMs }, index) =>
      index === first || random.chance(0.3)
        ? actions({ random, pick }).map((action) => ({
            at: startAt + Math.floor(random.next() * spanMs),
            action,
          }))
        : [],
    );
  });
}
