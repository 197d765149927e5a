import { allScopes, peopleScopes } from './scopes.ts';

/** Contract, section 3. */
export type Role = 'founder' | 'key_admin' | 'developer' | 'viewer';

/** Objects that a developer can create in sandbox. Production refuses creation for every role. */
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

/** Those of them that can be changed later; production refuses that too. */
const CHANGEABLE_RESOURCES = ['accounts', 'customers', 'external_bank_accounts'];

export function scopesOfRole(role: Role): string[] {
  if (role === 'founder') return [...allScopes(), ...peopleScopes()];
  if (role === 'key_admin')
    return [...allScopes(), ...peopleScopes().filter((scope) => scope !== 'members:write')];
  const readable = allScopes().filter(
    (scope) => scope.endsWith(':read') && !scope.startsWith('subscriptions:'),
  );
  const viewerScopes = [...readable, 'members:read'];
  if (role === 'viewer') return viewerScopes;
  return [
    ...viewerScopes,
    'files:execute',
    'subscription_events:execute',
    ...SANDBOX_RESOURCES.map((resource) => `${resource}:execute`),
    ...CHANGEABLE_RESOURCES.map((resource) => `${resource}:write`),
  ];
}
