import type { ActionGroup } from '../../../server/people/audit-entries/groups.ts';
import type { AuditEntry } from '../../api/types.ts';

export const GROUP_LABELS: Record<ActionGroup, string> = {
  keys: 'API keys and tokens',
  subscriptions: 'Subscriptions and deliveries',
  team: 'Team',
  organization: 'Organization and banks',
  login: 'Login and access',
  alerts: 'Alerts',
  files: 'Files',
  objects: 'Customers and other objects',
};

export const ACTORS_WITHOUT_GUID: Record<string, string> = {
  operator: 'Operator',
  portico: 'Portico',
  anonymous: 'Not authenticated',
};

const ACTOR_TYPES: Record<string, string> = { user: 'member', application: 'key', system: 'service' };

const OBJECT_LABELS: Record<string, string> = {
  application: 'key',
  bank_application: 'bank key',
  organization_application: 'organization key',
  subscription_delivery: 'delivery of',
  subscription_event: 'event of',
  subscription_recovery: 'redelivery to',
};

/** "member", "key", "operator". */
export function actorTypeLabel({ actor_type: type }: AuditEntry): string {
  return ACTOR_TYPES[type] ?? type;
}

export function actorLabel({ actor, actor_name: name, actor_email: email }: AuditEntry): string | undefined {
  return name ?? email ?? ACTORS_WITHOUT_GUID[actor];
}

/** "bank key", "subscription", "delivery of". */
export function objectLabel({ object_type: type }: AuditEntry): string {
  return OBJECT_LABELS[type] ?? type.replaceAll('_', ' ');
}
