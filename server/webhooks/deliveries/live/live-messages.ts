import { MAX_PAYLOAD_BYTES } from '../../../infrastructure/database/connections/notifications.ts';
import type { EnvironmentName, FailureKind } from '../../../infrastructure/database/tables.ts';
import type { Outcome } from '../delivery.ts';
import { type DeliveryState, stateOf } from '../state.ts';

/** How those who record attempts tell those who watch: on two channels, and nothing is lost but a glance. */
export const INTEREST_CHANNEL = 'live_interest';
export const ATTEMPTS_CHANNEL = 'live_attempts';

/** An attempt as it is shown. */
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

/** What somebody watches: the guids of Organizations. */
export function interestPayload(organizationGuids: readonly string[]): string {
  return organizationGuids.join();
}

export function readInterest(payload: string): string[] {
  return payload.split(',').filter((guid) => /^[0-9a-f]{32}$/.test(guid));
}

/** The Organization stands in front, so that whoever has nobody watching it need not read on. */
const GUID_CHARACTERS = 32;

/** An attempt without the names of its fields: twice as many fit. */
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

/** As few payloads as they fit into. How many were left out stands in the first. */
export function attemptPayloads(
  organizationGuid: string,
  attempts: readonly LiveAttempt[],
  dropped: number,
): string[] {
  const payloads: string[] = [];
  let text = `${organizationGuid}[${dropped}`;
  for (const attempt of attempts) {
    // All of it is ASCII, so characters are bytes.
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

/** Undefined when it cannot be read: while versions change, another one may be speaking. */
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
