import type { Random } from '../machine/random.ts';
import { type Behaviour, healthy } from '../network/endpoints.ts';
import type { EndpointPlan } from './agenda.ts';

type Behave = (random: Random) => Behaviour;

/** Each hanging request takes ten seconds, so an endpoint that hangs is refused connections after a few. */
const MAX_HANGING = 5;

/** Each call starts a new period of the endpoint. */
export const BEHAVIOURS: Readonly<Record<EndpointPlan, () => Behave>> = {
  healthy: () => healthy,
  rejecting: () => (random) => ({
    ...{ kind: 'answer', status: random.pick([301, 400, 404, 410, 500]), delayMs: random.next() * 200 },
  }),
  hanging: () => thenRefusing(() => ({ kind: 'hang' })),
  refusing: () => () => ({ kind: 'refuse' }),
  late: () => thenRefusing(() => ({ kind: 'late', status: 200 })),
  short: () => () => ({ kind: 'short', status: 200 }),
  flaky: () => (random) =>
    random.chance(0.5) ? healthy(random) : { kind: 'answer', status: 503, delayMs: random.next() * 500 },
  asking: () => (random) => ({
    ...{ kind: 'answer', status: 429, delayMs: 5, retryAfter: String(random.integer(1, 30)) },
  }),
};

function thenRefusing(behave: Behave): Behave {
  let left = MAX_HANGING;
  return (random) => {
    left -= 1;
    return left >= 0 ? behave(random) : { kind: 'refuse' };
  };
}
