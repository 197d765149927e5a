import { type Role, scopesOfRole } from '../../server/tokens/roles.ts';
import { holdsScope } from '../../server/tokens/scopes.ts';

export type Can = (scope: string) => boolean;

/** Applies the server's own rule, so that the page offers no action that the server would reject. */
export function permissionsOf(role: Role): Can {
  const scopes = new Set(scopesOfRole(role));
  return (scope) => holdsScope(scopes, scope);
}

export const ROLE_LABELS: Record<Role, string> = {
  founder: 'Founder',
  key_admin: 'Key Admin',
  developer: 'Developer',
  viewer: 'Viewer',
};

export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  founder: 'Full access, including the team',
  key_admin: 'Full access, except managing the team',
  developer:
    'Views everything except the audit log. Uploads files, creates sandbox objects, redelivers events.',
  viewer: 'Views everything except the audit log. Changes nothing.',
};
