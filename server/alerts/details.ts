import type { Actor } from '../infrastructure/audit/service.ts';
import type { EnvironmentName, FailureKind } from '../infrastructure/database/tables.ts';
import type { Role } from '../tokens/roles.ts';
import type { AlertType } from './kinds.ts';

/** The host only: the path of a URL may contain a secret. */
type Endpoint = { name: string; host: string };
type Symptoms = {
  last_error: { kind: FailureKind; status?: number; excerpt?: string; reason?: string };
  waiting: number;
  waiting_is_minimum: boolean;
  next_attempt_at: string;
};
type Key = { client_id: string; name: string };
type Author = { actor_type: Actor['type']; actor: string };

/** `email` is absent for API keys, which must not read the email addresses of members. */
type MemberOf = { member_guid: string; email?: string | undefined };

/** The details of an alert; shown to the Organization, so without secrets. */
export type Details = {
  'endpoint.failing': Endpoint & { failing_since: string; failing_minutes: number } & Partial<Symptoms>;
  'endpoint.recovered': Endpoint & { failing_since: string; recovered_at: string };
  'subscription.failed': Endpoint & { failing_since?: string | undefined };
  'deliveries.waiting': Endpoint & { waiting: number; waiting_threshold: number };
  'access.denied': Partial<Key> & { client_id: string; address?: string | undefined; request_id: string };
  'key.created': Key & Author & { ip_allowlist: readonly string[] };
  'key.widened': Key & Author & { added_scopes?: readonly string[]; ip_allowlist?: readonly string[] };
  'key.removed': Key & Author;
  'member.joined': MemberOf & { role: Role };
  'second_factor.removed': MemberOf & { factor: 'authenticator app' | 'passkey'; removed_by?: 'operator' };
  'file.infected': { file_guid: string; file_type: string; customer_guid: string };
};

export type NewAlert = {
  [Type in AlertType]: {
    type: Type;
    organizationGuid: string;
    /** Absent if the alert concerns both environments. */
    environment?: EnvironmentName | undefined;
    subscriptionGuid?: string;
    /** Unique within the Organization: the alert is raised once. By default every alert is an occurrence of its own. */
    occurrence?: string;
    details: Details[Type];
  };
}[AlertType];

export function authorOf({ type, id }: Actor): Author {
  return { actor_type: type, actor: id };
}

/** Guids of the members who caused alerts. */
export function membersIn(alerts: readonly { details: Record<string, unknown> }[]): string[] {
  return alerts.flatMap(({ details }) => (details.actor_type === 'user' ? [String(details.actor)] : []));
}

export function endpointOf({ name, url }: { name: string; url: string }): Endpoint {
  return { name, host: new URL(url).host };
}
