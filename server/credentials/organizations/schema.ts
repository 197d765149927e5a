import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  strictObject,
  Timestamp,
} from '../../infrastructure/http/requests/schemas.ts';
import { RoleName } from '../../people/members/schema.ts';
import type { Role } from '../../tokens/roles.ts';
import { requiresInProduction } from './second-factor.ts';
import type { Bank, Organization } from './store.ts';

const MAX_NAME_CHARACTERS = 128;

/** Optional features of an Organization. */
const FEATURES = ['webhooks', 'files'] as const;
export type Feature = (typeof FEATURES)[number];
export const DEFAULT_FEATURES: readonly Feature[] = ['webhooks'];

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: '\\S' });
const Live = Type.Boolean({ description: 'a live Organization must have an IP allowlist on every key' });
const Features = Type.Array(Type.Enum([...FEATURES]), {
  uniqueItems: true,
  description: FEATURES.join(', '),
});

const SecondFactorRoles = Type.Array(RoleName, {
  uniqueItems: true,
  description: 'roles whose members need a second factor for every call',
});
const SecondFactorInProduction = Type.Boolean({
  description:
    'whether members need a second factor for changes in production; default: true for live Organizations',
});
const secondFactorChanges = {
  second_factor_roles: Type.Optional(SecondFactorRoles),
  second_factor_in_production: Type.Optional(SecondFactorInProduction),
};

export const NewOrganization = strictObject({
  name: Name,
  live: Type.Optional(Live),
  features: Type.Optional(Features),
  ...secondFactorChanges,
});
export const OrganizationChanges = strictObject({
  name: Type.Optional(Name),
  live: Type.Optional(Live),
  features: Type.Optional(Features),
  ...secondFactorChanges,
});
export const SecondFactorChanges = strictObject(secondFactorChanges);
export const SecondFactorView = Type.Object({
  second_factor_roles: SecondFactorRoles,
  second_factor_in_production: SecondFactorInProduction,
});
export const OrganizationView = Type.Object({
  guid: Guid,
  name: Type.String(),
  live: Live,
  features: Type.Array(Type.String()),
  ...SecondFactorView.properties,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const NewBank = strictObject({ name: Name, environment: EnvironmentName });
/** For partners, who can create banks only in sandbox. */
export const NewSandboxBank = strictObject({ name: Name });
export const BankChanges = strictObject({ name: Type.Optional(Name) });
export const BankView = Type.Object({
  guid: Guid,
  organization_guid: Guid,
  name: Type.String(),
  environment: EnvironmentName,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function viewOrganization(organization: Organization): Static<typeof OrganizationView> {
  return {
    guid: organization.guid,
    name: organization.name,
    live: organization.live,
    features: organization.features,
    ...viewSecondFactor(organization),
    created_at: organization.created_at.toISOString(),
    updated_at: organization.updated_at.toISOString(),
  };
}

export function viewSecondFactor(organization: Organization): Static<typeof SecondFactorView> {
  return {
    second_factor_roles: organization.second_factor_roles as Role[],
    second_factor_in_production: requiresInProduction(organization),
  };
}

export function viewBank(bank: Bank): Static<typeof BankView> {
  return {
    guid: bank.guid,
    organization_guid: bank.organization_guid,
    name: bank.name,
    environment: bank.environment,
    created_at: bank.created_at.toISOString(),
    updated_at: bank.updated_at.toISOString(),
  };
}
