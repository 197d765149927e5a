import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  nameSchema,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import { ASSETS, SYMBOLS } from '../../objects/market/catalogue.ts';
import { RoleName } from '../../people/members/schema.ts';
import type { Role } from '../../tokens/roles.ts';
import { requiresInProduction } from './second-factor.ts';
import type { Bank, Organization } from './store.ts';

const MAX_NAME_CHARACTERS = 128;

/** Optional features of an Organization. */
const FEATURES = ['webhooks', 'files'] as const;
export type Feature = (typeof FEATURES)[number];
export const DEFAULT_FEATURES: readonly Feature[] = ['webhooks'];

const MAX_BANK_FEATURES = 32;
export const FIAT_ASSETS = ASSETS.filter(({ type }) => type === 'fiat').map(({ code }) => code);
export const TRADING_SYMBOLS = SYMBOLS.map(({ symbol }) => symbol);

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
  description:
    'Whether members need a second factor for changes in production. Default: the value of live; setting that value, or going live, restores the default',
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
/** Without the second-factor policy: an API key cannot hold `members:read`. */
export const OrganizationView = viewSchema('Organization', {
  guid: Guid,
  name: Type.String({ example: 'Acme Trading' }),
  live: Live,
  features: Type.Array(Type.String({ example: 'webhooks' })),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const OwnOrganizationChanges = inputSchema('OwnOrganizationChanges', { name: Type.Optional(Name) });
/** For the operator. */
export const ControlledOrganizationView = viewSchema('ControlledOrganization', {
  ...OrganizationView.properties,
  ...SecondFactorView.properties,
  frozen_at: Type.Optional({
    ...Timestamp,
    description: 'Calls are refused since then, because the Organization moves to another installation',
  }),
});

const BankFeatures = Type.Array(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$', example: 'attested_identity_verifications' }),
  {
    maxItems: MAX_BANK_FEATURES,
    uniqueItems: true,
    description: `At most ${MAX_BANK_FEATURES} names of up to 64 lowercase letters, digits and underscores`,
  },
);
/** The service checks the entries against the catalogue, which is too long for each description. */
const FiatAssets = Type.Array(Type.String({ maxLength: 12, example: 'USD' }), {
  maxItems: FIAT_ASSETS.length,
  uniqueItems: true,
  description: 'Assets of fiat accounts. Default: every fiat asset of the catalogue',
  example: ['USD'],
});
const TradingSymbols = Type.Array(Type.String({ maxLength: 25, example: 'BTC-USD' }), {
  maxItems: TRADING_SYMBOLS.length,
  uniqueItems: true,
  description: 'Symbols that can be traded. Default: every symbol of the catalogue',
  example: ['BTC-USD'],
});
const bankOptions = {
  features: Type.Optional(BankFeatures),
  supported_fiat_account_assets: Type.Optional(FiatAssets),
  supported_trading_symbols: Type.Optional(TradingSymbols),
};

export const NewBank = inputSchema('NewBank', {
  name: BankName,
  environment: EnvironmentName,
  type: Type.Optional({ ...EnvironmentName, description: 'The same as environment' }),
  ...bankOptions,
});
/** Partners create banks in sandbox only. */
export const NewSandboxBank = inputSchema('NewSandboxBank', {
  name: BankName,
  type: Type.Optional(Type.Enum(['sandbox'], { description: 'sandbox' })),
  ...bankOptions,
});
export const BankChanges = inputSchema('BankChanges', { name: Type.Optional(BankName) });
/** For the operator. */
export const BankControls = inputSchema('BankControls', { name: Type.Optional(BankName), ...bankOptions });
export const BankView = viewSchema('Bank', {
  guid: Guid,
  organization_guid: Guid,
  name: Type.String({ example: 'Acme Bank' }),
  environment: EnvironmentName,
  type: { ...EnvironmentName, description: 'The same as environment' },
  features: Type.Array(Type.String({ example: 'attested_identity_verifications' })),
  supported_fiat_account_assets: Type.Array(Type.String({ example: 'USD' })),
  supported_trading_symbols: Type.Array(Type.String({ example: 'BTC-USD' })),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function viewOrganization(organization: Organization): Static<typeof OrganizationView> {
  return {
    guid: organization.guid,
    name: organization.name,
    live: organization.live,
    features: organization.features,
    created_at: organization.created_at.toISOString(),
    updated_at: organization.updated_at.toISOString(),
  };
}

export function viewControlledOrganization(
  organization: Organization,
): Static<typeof ControlledOrganizationView> {
  const { frozen_at: frozenAt } = organization;
  return {
    ...viewOrganization(organization),
    ...viewSecondFactor(organization),
    ...(frozenAt === null ? {} : { frozen_at: frozenAt.toISOString() }),
  };
}

export function viewSecondFactor(organization: Organization): Static<typeof SecondFactorView> {
  return {
    second_factor_roles: organization.second_factor_roles as Role[],
    second_factor_in_production: requiresInProduction(organization),
  };
}

/** Null stands for the whole catalogue, also for entries to come. */
export function shownLists(bank: Bank) {
  return {
    supported_fiat_account_assets: bank.supported_fiat_account_assets ?? FIAT_ASSETS,
    supported_trading_symbols: bank.supported_trading_symbols ?? TRADING_SYMBOLS,
  };
}

export function viewBank(bank: Bank): Static<typeof BankView> {
  return {
    guid: bank.guid,
    organization_guid: bank.organization_guid,
    name: bank.name,
    environment: bank.environment,
    type: bank.environment,
    features: bank.features,
    ...shownLists(bank),
    created_at: bank.created_at.toISOString(),
    updated_at: bank.updated_at.toISOString(),
  };
}
