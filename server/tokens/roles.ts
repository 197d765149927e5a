import { allScopes, peopleScopes } from './scopes.ts';

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

export function scopesOfRole(role: Role): string[] {
  if (role === 'founder') return [...allScopes(), ...peopleScopes()];
  // Everything but changing the team.
  if (role === 'key_admin')
    return [...allScopes(), ...peopleScopes().filter((scope) => scope !== 'members:write')];
  const readable = allScopes().filter(
    (scope) => scope.endsWith(':read') && !scope.startsWith('subscriptions:'),
  );
  const seen = [...readable, 'members:read'];
  if (role === 'viewer') return seen;
  return [
    ...seen,
    'files:execute',
    'subscription_events:execute',
    ...SANDBOX_RESOURCES.map((resource) => `${resource}:execute`),
  ];
}
