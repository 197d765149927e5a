import { Failure, isFailure } from '../infrastructure/runtime/failure.ts';

/** Scopes and the keys that can hold them (contract, section 3): read lists and retrieves, write updates, execute creates. */
export type KeyHolder = 'organization' | 'bank' | 'customer';

type Grants = Record<KeyHolder, string>;

const EVERYONE: Grants = { organization: 'rwx', bank: 'rwx', customer: 'rwx' };
const WITHOUT_WRITE: Grants = { organization: 'rx', bank: 'rx', customer: 'rx' };
const ORGANIZATION_ONLY: Grants = { organization: 'rw', bank: '', customer: '' };

const RESOURCES: Record<string, Grants> = {
  accounts: EVERYONE,
  customers: { ...EVERYONE, customer: 'rw' },
  deposit_addresses: EVERYONE,
  external_bank_accounts: EVERYONE,
  identity_verifications: EVERYONE,
  transfers: EVERYONE,
  trades: WITHOUT_WRITE,
  quotes: WITHOUT_WRITE,
  workflows: WITHOUT_WRITE,
  plans: WITHOUT_WRITE,
  executions: WITHOUT_WRITE,
  prices: { organization: 'r', bank: 'r', customer: 'r' },
  files: { organization: 'rx', bank: 'rx', customer: '' },
  banks: { organization: 'rwx', bank: 'rw', customer: '' },
  bank_applications: { organization: 'rw', bank: 'rw', customer: '' },
  organizations: ORGANIZATION_ONLY,
  organization_applications: ORGANIZATION_ONLY,
  subscription_events: { organization: 'rx', bank: '', customer: '' },
};

/** Dropped from the token requests of API keys: only people can hold them (specification, Subscriptions 1). */
const DROPPED_SCOPES: ReadonlySet<string> = new Set(scopeNames('subscriptions', 'rwx'));

const SCOPES_BY_HOLDER: Record<KeyHolder, ReadonlySet<string>> = {
  organization: scopesOf('organization'),
  bank: scopesOf('bank'),
  customer: scopesOf('customer'),
};

const ALL_SCOPES: ReadonlySet<string> = new Set([...SCOPES_BY_HOLDER.organization, ...DROPPED_SCOPES]);

/** Held by people only, by role. A key that requests one gets an error. */
const PEOPLE_SCOPES: readonly string[] = ['audit_entries:read', 'members:read', 'members:write'];

/** `:execute` of these resources includes `:read` and `:write` (contract, section 7). */
const COVERED_BY_EXECUTE: ReadonlySet<string> = new Set(['subscriptions', 'subscription_events']);

export const MAX_SCOPES = 100;

export function scopesFor(holder: KeyHolder): string[] {
  return [...SCOPES_BY_HOLDER[holder]].sort();
}

export function allScopes(): string[] {
  return [...ALL_SCOPES].sort();
}

export function peopleScopes(): string[] {
  return [...PEOPLE_SCOPES];
}

export function holdsScope(held: ReadonlySet<string>, required: string): boolean {
  if (held.has(required)) return true;
  const [resource = ''] = required.split(':', 1);
  return COVERED_BY_EXECUTE.has(resource) && held.has(`${resource}:execute`);
}

/** Scopes granted to a key, by the contract's rules in the contract's order. `own` are the scopes of the Application. */
export function grantKeyScopes(
  requested: readonly string[],
  holder: 'organization' | 'bank',
  own: ReadonlySet<string>,
): string[] | Failure {
  const known = knownScopes(requested);
  if (isFailure(known)) return known;
  const kept = known.filter((scope) => !DROPPED_SCOPES.has(scope));
  const beyondHolder = kept.find((scope) => !SCOPES_BY_HOLDER[holder].has(scope));
  if (beyondHolder) return invalidScope(`${beyondHolder} needs Organization credentials`);
  return withinOwn(kept, own);
}

/** `parent`: scopes of the token that the customer token is obtained with, if any. */
export function grantCustomerScopes(
  requested: readonly string[],
  own: ReadonlySet<string>,
  parent?: ReadonlySet<string>,
): string[] | Failure {
  const known = knownScopes(requested);
  if (isFailure(known)) return known;
  const beyondCustomer = known.find((scope) => !SCOPES_BY_HOLDER.customer.has(scope));
  if (beyondCustomer) return invalidScope(`${beyondCustomer} cannot be held by a customer token`);
  const beyondParent = parent && known.find((scope) => !parent.has(scope));
  if (beyondParent) return invalidScope(`Your token must hold the scope ${beyondParent} to grant it`);
  return withinOwn(known, own);
}

export function checkApplicationScopes(
  scopes: readonly string[],
  holder: 'organization' | 'bank',
): string[] | Failure {
  const wrong = scopes.findIndex((scope) => !SCOPES_BY_HOLDER[holder].has(scope));
  if (wrong !== -1)
    return new Failure('invalid_parameter', `scopes[${wrong}] is not a scope that ${holder} keys can hold`);
  return [...new Set(scopes)].sort();
}

function knownScopes(requested: readonly string[]): string[] | Failure {
  if (requested.length === 0) return invalidScope('At least one scope is required');
  if (requested.length > MAX_SCOPES) return invalidScope(`At most ${MAX_SCOPES} scopes can be requested`);
  const unknown = requested.find((scope) => !ALL_SCOPES.has(scope));
  // RFC 6749 allows only printable ASCII in an error description.
  if (unknown !== undefined)
    return invalidScope(`Unknown scope ${unknown.slice(0, 64).replace(/[^\x21\x23-\x5b\x5d-\x7e]/g, '?')}`);
  return [...new Set(requested)];
}

function withinOwn(scopes: readonly string[], own: ReadonlySet<string>): string[] | Failure {
  const beyond = scopes.find((scope) => !own.has(scope));
  return beyond === undefined ? [...scopes] : invalidScope(`This key does not hold the scope ${beyond}`);
}

function invalidScope(message: string): Failure {
  return new Failure('invalid_scope', message);
}

function scopesOf(holder: KeyHolder): ReadonlySet<string> {
  return new Set(
    Object.entries(RESOURCES).flatMap(([resource, grants]) => scopeNames(resource, grants[holder])),
  );
}

function scopeNames(resource: string, actions: string): string[] {
  const names = { r: 'read', w: 'write', x: 'execute' };
  return [...actions].map((action) => `${resource}:${names[action as keyof typeof names]}`);
}
