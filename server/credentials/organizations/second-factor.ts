import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Role } from '../../tokens/roles.ts';
import type { Organization } from './store.ts';

type Policy = Pick<Organization, 'live' | 'second_factor_roles' | 'second_factor_in_production'>;
/** What a member needs a second factor for: every call, changes in production, or nothing. */
export type SecondFactorNeed = 'always' | 'production_changes' | 'never';

/** A live Organization requires one in production until it decides otherwise (contract, section 12). */
export function requiresInProduction({ live, second_factor_in_production: decided }: Policy): boolean {
  return decided ?? live;
}

export function secondFactorNeed(policy: Policy, role: Role | undefined): SecondFactorNeed {
  if (role !== undefined && policy.second_factor_roles.includes(role)) return 'always';
  return requiresInProduction(policy) ? 'production_changes' : 'never';
}

/** For a member whose session has no second factor; undefined when the call may go on. */
export function checkSecondFactor(
  policy: Policy,
  { role, changesProduction }: { role: Role | undefined; changesProduction: boolean },
): Failure | undefined {
  const need = secondFactorNeed(policy, role);
  if (need === 'always')
    return new Failure(
      'second_factor_required',
      'Your Organization requires a second factor for your role: an authenticator app or a passkey',
    );
  if (need === 'never' || !changesProduction) return undefined;
  return new Failure(
    'second_factor_required',
    'Changes that reach production require a second factor: an authenticator app or a passkey',
  );
}
