import { allScopes } from './scopes.ts';

/** What people of each role hold in a user token (contract, section 3). */
export type Role = 'founder' | 'key_admin' | 'developer' | 'viewer';

/** Objects that a developer may create to try the sandbox; production refuses creation for everybody. */
const SANDBOX_RESOURCES = [
  'accounts',
  'banks',
  'customers',
  'deposit_addresses',
  'executions',
  'external_bank_accounts',
  'identity_verifications',
  'plans',
  'quotes',
  'trades',
  'transfers',
  'workflows',
];

const MANAGES_KEYS: ReadonlySet<Role> = new Set(['founder', 'key_admin']);

export function scopesOfRole(role: Role): string[] {
  // Team management is no scope of the API: the dashboard asks for the role itself.
  if (MANAGES_KEYS.has(role)) return allScopes();
  const readable = allScopes().filter(
    (scope) => scope.endsWith(':read') && !scope.startsWith('subscriptions:'),
  );
  if (role === 'viewer') return readable;
  return [
    ...readable,
    'files:execute',
    'subscription_events:execute',
    ...SANDBOX_RESOURCES.map((resource) => `${resource}:execute`),
  ];
}
