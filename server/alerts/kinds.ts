import type { Role } from '../tokens/roles.ts';

/** Also used by the dashboard: must not need Node.js. */
export type AlertType = keyof typeof ALERT_KINDS;

/** Colors and the order of attention, not a promise of any response. */
type Severity = 'critical' | 'warning' | 'info';

type Kind = {
  /** In front of a colon in subjects, and the name of the email setting. */
  label: string;
  about: string;
  severity: Severity;
  /** The scope that a token needs besides `organizations:read` to see alerts of this type. */
  scope: string;
  /** Roles that get an email, unless the member turns it off. */
  roles: readonly Role[];
};

const ENDPOINT = {
  scope: 'subscription_events:read',
  roles: ['founder', 'key_admin', 'developer'],
} as const satisfies Partial<Kind>;

/** Who may change keys sees what concerns the security of the Organization. */
const SECURITY = {
  scope: 'organization_applications:write',
  roles: ['founder', 'key_admin'],
} as const satisfies Partial<Kind>;

export const ALERT_KINDS = {
  'endpoint.failing': {
    ...ENDPOINT,
    label: 'Endpoint failing',
    about: 'An endpoint has failed for 10 minutes, 1 hour, 1 day and 5 days',
    severity: 'warning',
  },
  'endpoint.recovered': {
    ...ENDPOINT,
    label: 'Endpoint recovered',
    about: 'An endpoint answers again after an alert that it failed',
    severity: 'info',
  },
  'subscription.failed': {
    ...ENDPOINT,
    label: 'Subscription failed',
    about: 'A subscription ended because its endpoint failed for seven days',
    severity: 'critical',
  },
  'deliveries.waiting': {
    ...ENDPOINT,
    label: 'Deliveries waiting',
    about: 'More deliveries wait for an endpoint than the number you chose',
    severity: 'warning',
  },
  'access.denied': {
    ...SECURITY,
    label: 'Calls denied by an allowlist',
    about: 'The first call of a day with a key from an address outside its allowlist',
    severity: 'warning',
  },
  'key.created': { ...SECURITY, label: 'Key created', about: 'An API key was created', severity: 'info' },
  'key.widened': {
    ...SECURITY,
    label: 'Key widened',
    about: 'The allowlist or the scopes of an API key were extended',
    severity: 'warning',
  },
  'key.removed': { ...SECURITY, label: 'Key removed', about: 'An API key was removed', severity: 'info' },
  'member.joined': {
    ...SECURITY,
    label: 'Member joined',
    about: 'A person accepted an invitation to the team',
    severity: 'info',
  },
  'second_factor.removed': {
    ...SECURITY,
    label: 'Second factor removed',
    about: 'A member or the operator removed an authenticator app or a passkey',
    severity: 'warning',
  },
  'file.infected': {
    scope: 'files:read',
    roles: ['founder', 'key_admin', 'developer'],
    label: 'Infected upload',
    about: 'The virus scan rejected an uploaded file',
    severity: 'critical',
  },
} as const satisfies Record<string, Kind>;

/** Waiting deliveries are counted up to 10,000, so that a higher number would never be passed. */
export const MAX_WAITING_THRESHOLD = 9_999;

export const ALERT_TYPES = Object.keys(ALERT_KINDS) as AlertType[];

export function kindOf(type: string): Kind | undefined {
  return Object.hasOwn(ALERT_KINDS, type) ? ALERT_KINDS[type as AlertType] : undefined;
}

/** Types that a member of this role gets emails about. */
export function emailTypesOf(role: Role): AlertType[] {
  return ALERT_TYPES.filter((type) => (kindOf(type) as Kind).roles.includes(role));
}
