import { type Role, scopesOfRole } from '../../server/tokens/roles.ts';
import { holdsScope } from '../../server/tokens/scopes.ts';

export type Can = (scope: string) => boolean;

/** What a role may do, by the server's own rule: what would be refused is not offered. */
export function permissionsOf(role: Role): Can {
  const held = new Set(scopesOfRole(role));
  return (scope) => holdsScope(held, scope);
}

export const ROLE_LABELS: Record<Role, string> = {
  founder: 'Founder',
  key_admin: 'Key Admin',
  developer: 'Developer',
  viewer: 'Viewer',
};

export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  founder: 'Everything, and the team',
  key_admin: 'Keys, subscriptions and everything else but the team',
  developer:
    'Reads everything but subscriptions and the audit, uploads files, uses the sandbox, resends events',
  viewer: 'Reads everything but subscriptions and the audit, changes nothing',
};
