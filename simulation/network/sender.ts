import type { Clock } from '../../server/infrastructure/runtime/clock.ts';
import { type Answer, EXCHANGE_TIMEOUT_MS } from '../../server/webhooks/deliveries/sending/exchange.ts';
import type { Sender } from '../../server/webhooks/deliveries/sending/sender.ts';
import { signedHeaders, signingKeyOf } from '../../server/webhooks/deliveries/sending/signature.ts';
import type { Random } from '../machine/random.ts';
import { enter } from '../machine/rest.ts';
import type { Owner, Scheduler } from '../machine/scheduler.ts';
import type { Endpoints } from './endpoints.ts';

const MAX_LATENCY_MS = 20;

/** Filled in when the node learns of the outcome. */
type Exchanged = { endedAt: number | undefined; succeeded: boolean; retryAfterMs: number };
export type Sent = { node: Owner; url: string; eventGuid: string; at: number };

/**
 * The sender of one node: the real signatures, a simulated network instead of sockets, and the deadline and the
 * outcomes of the real exchange.
 */
export function createSimulatedSender({
  owner,
  clock,
  scheduler,
  random,
  endpoints,
  onSend,
}: {
  owner: Owner;
  clock: Clock;
  scheduler: Scheduler;
  random: Random;
  endpoints: Endpoints;
  onSend(sent: Sent): Exchanged;
}): Sender {
  const latency = () => 0.5 + random.next() * MAX_LATENCY_MS;
  const hostOf = (url: string) => new URL(url).host.split('.')[0];

  return {
    send({ url, eventGuid, body, signingKey, at }) {
      const headers = signedHeaders({ key: signingKeyOf(signingKey), eventGuid, body, at });
      const startedAt = clock.now().getTime();
      const sentAt = scheduler.now();
      const exchanged = onSend({ node: owner, url, eventGuid, at: sentAt });
      return new Promise<Answer>((resolve) => {
        let isOver = false;
        const finish = (answer: (durationMs: number) => Answer) => {
          if (isOver) return;
          isOver = true;
          cancel();
          const elapsed = clock.now().getTime() - startedAt;
          const result = answer(Math.min(Math.max(0, elapsed), EXCHANGE_TIMEOUT_MS));
          exchanged.endedAt = scheduler.now();
          exchanged.succeeded = result.kind === 'answered' && result.status >= 200 && result.status < 300;
          if (result.kind === 'answered') exchanged.retryAfterMs = Number(result.retryAfter ?? 0) * 1_000;
          resolve(result);
        };
        const timeOut = () =>
          finish((durationMs) => ({
            ...{ kind: 'timeout', durationMs, details: { addresses: [] } },
            reason: 'no response within 10 seconds',
          }));
        const cancel = scheduler.add(EXCHANGE_TIMEOUT_MS, {
          ...{ kind: 'fixed', owner, label: `${hostOf(url)} times out` },
          run: () => enter(owner, timeOut),
        });
        /** Back to the node. */
        const answerIn = (ms: number, what: string, answer: (durationMs: number) => Answer) =>
          scheduler.add(ms, {
            ...{ owner, label: `${hostOf(url)} ${what}` },
            run: () => enter(owner, () => finish(answer)),
          });
        const arrive = () => {
          const behaviour = endpoints.receive({ url, node: owner.name, sentAt, headers, body });
          const unreachable = (reason: string) => (durationMs: number) =>
            ({ kind: 'unreachable', reason, durationMs, details: { addresses: [] } }) satisfies Answer;
          switch (behaviour.kind) {
            case 'hang':
              return;
            case 'refuse':
              return void answerIn(latency(), 'refuses', unreachable('connection refused'));
            case 'short':
              return void answerIn(latency(), 'ends early', (durationMs) => ({
                ...unreachable('the response was incomplete')(durationMs),
                ...{ status: behaviour.status, excerpt: '' },
              }));
            default: {
              const { status } = behaviour;
              const delayMs = behaviour.kind === 'late' ? EXCHANGE_TIMEOUT_MS + 50 : behaviour.delayMs;
              const retryAfter = behaviour.kind === 'answer' ? behaviour.retryAfter : undefined;
              const details = status >= 200 && status < 300 ? {} : { details: { addresses: [] } };
              return void answerIn(delayMs + latency(), `answers ${status}`, (durationMs) => ({
                ...{ kind: 'answered', status, retryAfter, excerpt: '', durationMs, ...details },
              }));
            }
          }
        };
        // Without an owner: a request that has left a node arrives also when the node is killed.
        scheduler.add(latency(), {
          owner: undefined,
          label: `${owner.name} → ${hostOf(url)} ${eventGuid}`,
          run: arrive,
        });
      });
    },
    close: async () => {},
  };
}
