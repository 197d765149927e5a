import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  nameSchema,
  Timestamp,
  viewSchema,
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

const Name = nameSchema(MAX_NAME_CHARACTERS, 'Acme Trading');
const BankName = { ...Name, example: 'Acme Bank' };
const Live = Type.Boolean({
  description: 'Whether the Organization is live. Every key of a live Organization needs an IP allowlist',
});
const Features = Type.Array(Type.Enum([...FEATURES]), {
  uniqueItems: true,
  description: `Features of the Organization: ${FEATURES.join(', ')}`,
  example: ['webhooks'],
});

const SecondFactorRoles = Type.Array(RoleName, {
  uniqueItems: true,
  description: 'Roles whose members need a second factor for every call',
  example: ['founder'],
});
const SecondFactorInProduction = Type.Boolean({
  description: 'Whether members need a second factor for changes in production. Default: the value of live',
});
const secondFactorChanges = {
  second_factor_roles: Type.Optional(SecondFactorRoles),
  second_factor_in_production: Type.Optional(SecondFactorInProduction),
};

export const NewOrganization = inputSchema('NewOrganization', {
  name: Name,
  live: Type.Optional(Live),
  features: Type.Optional(Features),
  ...secondFactorChanges,
});
export const OrganizationChanges = inputSchema('OrganizationChanges', {
  name: Type.Optional(Name),
  live: Type.Optional(Live),
  features: Type.Optional(Features),
  ...secondFactorChanges,
});
/** Founders change this part; the operator changes it with the rest of the Organization. */
export const SecondFactorChanges = inputSchema('MemberPolicyChanges', secondFactorChanges);
export const SecondFactorView = viewSchema('MemberPolicy', {
  second_factor_roles: SecondFactorRoles,
  second_factor_in_production: SecondFactorInProduction,
});
export const OrganizationView = viewSchema('Organization', {
  guid: Guid,
  name: Type.String({ example: 'Acme Trading' }),
  live: Live,
  features: Type.Array(Type.String({ example: 'webhooks' })),
  ...SecondFactorView.properties,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const NewBank = inputSchema('NewBank', { name: BankName, environment: EnvironmentName });
/** Partners create banks in sandbox only. */
export const NewSandboxBank = inputSchema('NewSandboxBank', { name: BankName });
export const BankChanges = inputSchema('BankChanges', { name: Type.Optional(BankName) });
export const BankView = viewSchema('Bank', {
  guid: Guid,
  organization_guid: Guid,
  name: Type.String({ example: 'Acme Bank' }),
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
