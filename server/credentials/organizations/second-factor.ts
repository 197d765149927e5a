import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Role } from '../../tokens/roles.ts';
import type { Organization } from './store.ts';

type Policy = Pick<Organization, 'live' | 'second_factor_roles' | 'second_factor_in_production'>;
/** Calls that a member needs a second factor for. */
export type SecondFactorNeed = 'always' | 'production_changes' | 'never';

/** Default: required once the Organization is live (contract, section 12). */
export function requiresInProduction({ live, second_factor_in_production: setting }: Policy): boolean {
  return setting ?? live;
}

/**
 * The setting to store. The value of the default is stored as null, which follows `live`; going live ends what was set
 * before, so that a `false` from the time of tests does not weaken production.
 */
export function settingAfter(
  { live, second_factor_in_production: setting }: Pick<Policy, 'live' | 'second_factor_in_production'>,
  changes: { live?: boolean; second_factor_in_production?: boolean },
): boolean | null {
  const wanted = changes.second_factor_in_production ?? (changes.live ? null : setting);
  return wanted === (changes.live ?? live) ? null : wanted;
}

export function secondFactorNeed(policy: Policy, role: Role | undefined): SecondFactorNeed {
  if (role !== undefined && policy.second_factor_roles.includes(role)) return 'always';
  return requiresInProduction(policy) ? 'production_changes' : 'never';
}

/** For a member whose session has no second factor. */
export function checkSecondFactor(
  policy: Policy,
  { role, changesProduction }: { role: Role | undefined; changesProduction: boolean },
): Failure | undefined {
  const need = secondFactorNeed(policy, role);
  if (need === 'always')
    return new Failure(
      'second_factor_required',
      'Your Organization requires a second factor for your role: use an authenticator app or a passkey',
    );
  if (need === 'never' || !changesProduction) return undefined;
  return new Failure(
    'second_factor_required',
    'Changes in production require a second factor: use an authenticator app or a passkey',
  );
}
