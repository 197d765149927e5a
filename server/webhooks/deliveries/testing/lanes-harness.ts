import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Endpoint } from '../../subscriptions/service.ts';
import type { Delivery, Outcome } from '../delivery.ts';
import { createLanes } from '../queue/lanes/lanes.ts';

export type Result = Outcome['result'];
export type Sending = {
  delivery: Delivery;
  endpoint: Endpoint;
  end(result: Result, durationMs?: number): void;
};
type Recording = { outcome: Outcome; done(): void };

export function endpointOf(name: string | number, fields: Partial<Endpoint> = {}): Endpoint {
  return {
    guid: `lane-${name}`,
    ...{ organizationGuid: 'o', environment: 'sandbox', url: 'https://partner.example/hook' },
    ...{ signingKey: () => new Secret(''), version: 0, disabled: false, paused: false, delivers: true },
    ...{ endsAt: undefined, recoveredAt: undefined, hasAnswered: true, leaseTerm: 0, ...fields },
  };
}

type Options = { recorded?: 'immediately' | 'manually'; isLeaseValid?: () => boolean };

/** Lanes whose attempts end when the test ends them, and with `recorded: 'manually'` their records too. */
export function createHarness({ recorded = 'immediately', isLeaseValid = () => true }: Options = {}) {
  const clock = createFakeClock();
  const started: string[] = [];
  const sending: Sending[] = [];
  const recording: Recording[] = [];
  const requeued: Delivery[] = [];
  let refillCalls = 0;
  let created = 0;

  function deliveriesFor({ guid }: Endpoint, count: number): Delivery[] {
    return Array.from({ length: count }, () => {
      created += 1;
      return { guid: `delivery-${created}`, subscriptionGuid: guid } as Delivery;
    });
  }

  const lanes = createLanes({
    clock,
    holder: () => (isLeaseValid() ? 'dispatcher' : undefined),
    timers: clock,
    attempt(delivery, endpoint) {
      started.push(endpoint.guid);
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      const entry: Sending = {
        delivery,
        endpoint,
        end(result, durationMs = 100) {
          sending.splice(sending.indexOf(entry), 1);
          const now = clock.now();
          resolve({
            ...{ delivery, url: endpoint.url, result, durationMs, attemptedAt: now, endedAt: now },
            ...{
              status: undefined,
              excerpt: '',
              reason: undefined,
              nextAttemptAt: undefined,
              pausedUntil: undefined,
            },
          });
        },
      };
      sending.push(entry);
      return promise;
    },
    record(outcome) {
      if (recorded === 'immediately') return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const entry = {
        outcome,
        done() {
          recording.splice(recording.indexOf(entry), 1);
          resolve();
        },
      };
      recording.push(entry);
      return promise;
    },
    requeue: (deliveries) => void requeued.push(...deliveries),
    onRefillNeeded() {
      refillCalls += 1;
    },
  });

  return {
    clock,
    lanes,
    /** Endpoints of the attempts, in order of their start. */
    started,
    /** Attempts in flight. */
    sending,
    /** Outcomes that are not recorded yet. */
    recording,
    requeued,
    refillCalls: () => refillCalls,
    deliveriesFor,
    /** Reserves and adds. */
    fill(endpoint: Endpoint, count: number): Delivery[] {
      assert.equal(lanes.reserve(endpoint, count), count);
      const deliveries = deliveriesFor(endpoint, count);
      lanes.add(endpoint, deliveries);
      return deliveries;
    },
    async endFirst(result: Result = 'completed', durationMs = 100): Promise<void> {
      assert.ok(sending[0], 'an attempt is in flight');
      sending[0].end(result, durationMs);
      await turn();
    },
    async endAll(result: Result = 'completed'): Promise<void> {
      for (const entry of [...sending]) entry.end(result);
      await turn();
    },
  };
}
