import type { Random } from '../machine/random.ts';
import type { Scheduler } from '../machine/scheduler.ts';

/** How an endpoint treats a request. */
export type Behaviour =
  | { kind: 'answer'; status: number; delayMs: number; retryAfter?: string }
  | { kind: 'hang' }
  | { kind: 'refuse' }
  /** The answer arrives after the sender has given up. */
  | { kind: 'late'; status: number }
  /** Content-Length promises more than the connection delivers. */
  | { kind: 'short'; status: number };

/** A request as the endpoint has seen it. */
export type Received = {
  number: number;
  url: string;
  node: string;
  /** Virtual time; clocks of nodes differ from it. */
  sentAt: number;
  arrivedAt: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  behaviour: Behaviour;
};

type Plan = { from: number; behave(random: Random): Behaviour };

export type Endpoints = ReturnType<typeof createEndpoints>;

export const healthy = (random: Random): Behaviour => ({
  ...{ kind: 'answer', status: random.pick([200, 201, 202, 204]) },
  delayMs: 1 + random.next() * 60,
});

/** The endpoints of all partners, by URL. */
export function createEndpoints({
  scheduler,
  random,
  onArrival,
}: {
  scheduler: Scheduler;
  random: Random;
  onArrival(received: Received): void;
}) {
  const plans = new Map<string, Plan[]>();
  const received: Received[] = [];

  function behaviourOf(url: string): Behaviour {
    const now = scheduler.now();
    const plan = plans.get(url)?.findLast(({ from }) => from <= now);
    return plan ? plan.behave(random) : { kind: 'refuse' };
  }

  return {
    received: received as readonly Received[],
    /** From this virtual time on; in the order of the times. */
    behave(url: string, from: number, behave: Plan['behave']): void {
      plans.set(url, [...(plans.get(url) ?? []), { from, behave }]);
    },
    healthySince(url: string): number {
      const plan = plans.get(url)?.findLast(({ from }) => from <= scheduler.now());
      return plan?.behave === healthy ? plan.from : Number.POSITIVE_INFINITY;
    },
    receive(request: Omit<Received, 'number' | 'arrivedAt' | 'behaviour'>): Behaviour {
      const behaviour = behaviourOf(request.url);
      const number = received.length + 1;
      // A refused connection shows the endpoint nothing.
      if (behaviour.kind !== 'refuse') {
        const entry = { ...request, number, arrivedAt: scheduler.now(), behaviour };
        received.push(entry);
        onArrival(entry);
      }
      return behaviour;
    },
  };
}
