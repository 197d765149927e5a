import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Endpoint } from '../../subscriptions/service.ts';
import { bodyOf, type Delivery, hasAttemptRow, type Outcome } from '../delivery.ts';
import { type Answer, notSent } from './exchange.ts';
import type { NextAttempt, Schedule } from './schedule.ts';
import type { Sender } from './sender.ts';

export type Attempt = (delivery: Delivery, endpoint: Endpoint) => Promise<Outcome>;

type Deps = {
  clock: Clock;
  log: Log;
  sender: Sender;
  schedule: Schedule;
  /** Sandbox endpoints may be on private addresses. */
  allowPrivate: boolean;
};

const NO_NEXT_ATTEMPT: NextAttempt = { nextAttemptAt: undefined, pausedUntil: undefined };

/** Sends a delivery and returns its outcome. Never rejects: failures are outcomes too. */
export function createAttempt({ clock, log, sender, schedule, allowPrivate }: Deps): Attempt {
  function post(delivery: Delivery, endpoint: Endpoint, at: Date): Promise<Answer> {
    try {
      return sender.send({
        url: endpoint.url,
        eventGuid: delivery.eventGuid,
        body: bodyOf(delivery),
        signingKey: endpoint.signingKey(),
        at,
        allowPrivate: allowPrivate && endpoint.environment === 'sandbox',
        ...(hasAttemptRow(delivery) ? { detailed: true } : {}),
      });
    } catch (error) {
      // A bug or an undecryptable key must not stop other deliveries.
      log.error({ err: error, delivery_guid: delivery.guid }, 'could not send a delivery');
      return Promise.resolve(notSent('not sent'));
    }
  }

  function outcomeOf(delivery: Delivery, endpoint: Endpoint, attemptedAt: Date, answer: Answer): Outcome {
    const endedAt = clock.now();
    const result = resultOf(answer);
    const isAnswered = answer.kind === 'answered';
    const failed = {
      ...{ number: delivery.attemptCount + 1, createdAt: delivery.createdAt, endedAt, status: answer.status },
      retryAfter: isAnswered ? answer.retryAfter : undefined,
    };
    return {
      delivery,
      url: endpoint.url,
      result,
      attemptedAt,
      endedAt,
      durationMs: answer.durationMs,
      status: answer.status,
      excerpt: answer.excerpt ?? '',
      reason: isAnswered ? undefined : answer.reason,
      exchange: answer.details && { url: endpoint.url, ...answer.details },
      ...(result === 'completed' ? NO_NEXT_ATTEMPT : schedule(failed)),
    };
  }

  return (delivery, endpoint) => {
    const attemptedAt = clock.now();
    return post(delivery, endpoint, attemptedAt).then((answer) =>
      outcomeOf(delivery, endpoint, attemptedAt, answer),
    );
  };
}

/** Only 2xx is a success (specification, Events 3); redirects are not followed. */
function resultOf(answer: Answer): Outcome['result'] {
  if (answer.kind !== 'answered') return answer.kind;
  return answer.status >= 200 && answer.status < 300 ? 'completed' : 'rejected';
}
