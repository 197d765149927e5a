import { oneLine } from '../../infrastructure/runtime/one-line.ts';
import type { EndpointHealth, Symptoms } from '../../webhooks/deliveries/health/health.ts';
import { MAX_COUNTED_WAITING } from '../../webhooks/deliveries/health/waiting.ts';
import type { Details } from '../details.ts';

/** Endpoints of one query, which counts up to 10,000 waiting deliveries of each. */
const BATCH = 20;
/** Characters of a response in an alert. */
const MAX_EXCERPT = 200;

type SymptomDetails = Pick<
  Details['endpoint.failing'],
  'last_error' | 'waiting' | 'waiting_is_minimum' | 'next_attempt_at'
>;

/** Why endpoints fail, how many deliveries wait and when the next one is tried, by subscription guid. */
export async function readSymptoms(
  { symptomsOf }: Pick<EndpointHealth, 'symptomsOf'>,
  guids: readonly string[],
): Promise<ReadonlyMap<string, SymptomDetails>> {
  const details = new Map<string, SymptomDetails>();
  for (let first = 0; first < guids.length; first += BATCH) {
    const some = guids.slice(first, first + BATCH);
    const symptoms = await symptomsOf(some);
    for (const guid of some) details.set(guid, detailsOf(symptoms(guid)));
  }
  return details;
}

function detailsOf({ waiting, nextAttemptAt, errors: [last] }: Symptoms): SymptomDetails {
  // Half of a character at the cut counts as a control character, which `oneLine` removes.
  const shortened = (text: string | null) => oneLine((text ?? '').slice(0, MAX_EXCERPT));
  const [excerpt, reason] = [shortened(last?.excerpt ?? null), shortened(last?.reason ?? null)];
  return {
    ...(last && {
      last_error: {
        kind: last.kind,
        ...(last.status > 0 && { status: last.status }),
        ...(excerpt && { excerpt }),
        ...(reason && { reason }),
      },
    }),
    waiting: waiting.count,
    waiting_is_minimum: waiting.count === MAX_COUNTED_WAITING,
    ...(nextAttemptAt && { next_attempt_at: nextAttemptAt.toISOString() }),
  };
}
