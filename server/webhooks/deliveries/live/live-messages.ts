import { MAX_PAYLOAD_BYTES } from '../../../infrastructure/database/connections/notifications.ts';
import type { EnvironmentName, FailureKind } from '../../../infrastructure/database/tables.ts';
import type { Outcome } from '../delivery.ts';
import { type DeliveryState, stateOf } from '../state.ts';

/** Notifications between recorders and live viewers. They may get lost. */
export const INTEREST_CHANNEL = 'live_interest';
export const ATTEMPTS_CHANNEL = 'live_attempts';

export type LiveAttempt = {
  guid: string;
  subscription_guid: string;
  subscription_event_guid: string;
  event_type: string;
  environment: EnvironmentName;
  state: DeliveryState;
  failure_kind?: FailureKind;
  response_status?: number;
  response_time_ms: number;
  attempted_at: string;
};

export function liveAttemptOf(outcome: Outcome, failingSince: Date | undefined): LiveAttempt {
  const { delivery, result, status, durationMs, attemptedAt, endedAt, nextAttemptAt } = outcome;
  const hasFailed = result !== 'completed' && nextAttemptAt === undefined;
  const moments = {
    completed_at: result === 'completed' ? endedAt : null,
    failed_at: hasFailed ? endedAt : null,
    failing_since: failingSince ?? null,
  };
  return {
    guid: delivery.guid,
    subscription_guid: delivery.subscriptionGuid,
    subscription_event_guid: delivery.eventGuid,
    event_type: delivery.eventType,
    environment: delivery.environment,
    state: stateOf(moments, endedAt),
    ...(result === 'completed' ? {} : { failure_kind: result }),
    ...(status === undefined ? {} : { response_status: status }),
    response_time_ms: durationMs,
    attempted_at: attemptedAt.toISOString(),
  };
}

/** The Organizations that are watched. */
export function interestPayload(organizationGuids: readonly string[]): string {
  return organizationGuids.join();
}

export function readInterest(payload: string): string[] {
  return payload.split(',').filter((guid) => /^[0-9a-f]{32}$/.test(guid));
}

/** A payload begins with its Organization, so that a process without viewers of it can skip the rest. */
const GUID_CHARACTERS = 32;

/** An attempt without field names, which halves its size. */
type Compact = [
  guid: string,
  subscriptionGuid: string,
  eventGuid: string,
  eventType: string,
  environment: EnvironmentName,
  state: DeliveryState,
  failureKind: FailureKind | 0,
  status: number,
  responseTimeMs: number,
  attemptedAt: number,
];

/** As few payloads as possible; the first carries `dropped`. */
export function attemptPayloads(
  organizationGuid: string,
  attempts: readonly LiveAttempt[],
  dropped: number,
): string[] {
  const payloads: string[] = [];
  let text = `${organizationGuid}[${dropped}`;
  for (const attempt of attempts) {
    // The text is ASCII, so its length is its size in bytes.
    const next = `,${JSON.stringify(compactOf(attempt))}`;
    if (text.length + next.length + 1 > MAX_PAYLOAD_BYTES) {
      payloads.push(`${text}]`);
      text = `${organizationGuid}[0`;
    }
    text += next;
  }
  return [...payloads, `${text}]`];
}

export function organizationOf(payload: string): string {
  return payload.slice(0, GUID_CHARACTERS);
}

/** Undefined for an unknown format: during an upgrade another version may be sending. */
export function readAttempts(payload: string): { attempts: LiveAttempt[]; dropped: number } | undefined {
  try {
    const [dropped, ...compact] = JSON.parse(payload.slice(GUID_CHARACTERS)) as [number, ...Compact[]];
    return { attempts: compact.map(attemptOf), dropped };
  } catch {
    return undefined;
  }
}

function compactOf(attempt: LiveAttempt): Compact {
  return [
    attempt.guid,
    attempt.subscription_guid,
    attempt.subscription_event_guid,
    attempt.event_type,
    attempt.environment,
    attempt.state,
    attempt.failure_kind ?? 0,
    attempt.response_status ?? 0,
    attempt.response_time_ms,
    Date.parse(attempt.attempted_at),
  ];
}

function attemptOf([
  guid,
  subscription,
  event,
  type,
  environment,
  state,
  kind,
  status,
  ms,
  at,
]: Compact): LiveAttempt {
  return {
    guid,
    subscription_guid: subscription,
    subscription_event_guid: event,
    event_type: type,
    environment,
    state,
    ...(kind === 0 ? {} : { failure_kind: kind }),
    ...(status === 0 ? {} : { response_status: status }),
    response_time_ms: ms,
    attempted_at: new Date(at).toISOString(),
  };
}
