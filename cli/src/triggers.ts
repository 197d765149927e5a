import type { Fixture } from './fixtures.ts';

/** The states of an object by the ending that leads through them: docs/partners/objects.md. */
const ENDINGS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  transfer: {
    completed: ['storing', 'reviewing', 'completed'],
    failed: ['failed'],
    holding: ['pending', 'holding'],
  },
  trade: {
    completed: ['storing', 'pending', 'executed', 'settling', 'completed'],
    failed: ['failed'],
    cancelled: ['cancelled'],
  },
  identity_verification: {
    completed: ['storing', 'pending', 'reviewing', 'completed'],
    expired: ['waiting', 'expired'],
  },
  external_bank_account: { completed: ['storing', 'completed'], failed: ['failed'], expired: ['expired'] },
  plan: { completed: ['storing', 'planning', 'completed'], failed: ['failed'] },
  execution: { completed: ['storing', 'executing', 'completed'], failed: ['failed'] },
};

const reference = (path: string) => `\${${path}}`;
const CUSTOMER = reference('customer.guid');
const DEPENDENCIES: Readonly<Record<string, readonly Fixture[]>> = {
  customer: [
    { name: 'customer', path: '/api/customers', body: { type: 'individual', name: 'Ada Lovelace' } },
  ],
  accounts: ['source', 'destination'].map((name) => ({
    ...{ name, path: '/api/accounts' },
    body: { type: 'fiat', asset: 'USD', name },
  })),
};

type Recipe = { needs: readonly Fixture[]; path: string; body: object };

const PLAN = {
  ...{
    source_account_guid: reference('source.guid'),
    destination_account_guid: reference('destination.guid'),
  },
  ...{ amount: 100, asset: 'USD' },
};

const RECIPES: Readonly<Record<string, Recipe>> = {
  transfer: {
    ...{ needs: DEPENDENCIES.customer ?? [], path: '/api/transfers' },
    body: { transfer_type: 'funding', asset: 'USD', amount: 2_500, customer_guid: CUSTOMER },
  },
  trade: {
    ...{ needs: DEPENDENCIES.customer ?? [], path: '/api/trades' },
    body: { side: 'buy', symbol: 'BTC-USD', amount: 250_000, customer_guid: CUSTOMER },
  },
  identity_verification: {
    ...{ needs: DEPENDENCIES.customer ?? [], path: '/api/identity_verifications' },
    body: { type: 'kyc', method: 'attested', customer_guid: CUSTOMER },
  },
  external_bank_account: {
    ...{ needs: DEPENDENCIES.customer ?? [], path: '/api/external_bank_accounts' },
    body: { name: 'Checking', asset: 'USD', customer_guid: CUSTOMER },
  },
  plan: { needs: DEPENDENCIES.accounts ?? [], path: '/api/plans', body: PLAN },
  execution: {
    needs: [
      ...(DEPENDENCIES.accounts ?? []),
      { name: 'plan', path: '/api/plans', body: PLAN, wait_for_state: 'completed' },
    ],
    path: '/api/executions',
    body: { plan_guid: reference('plan.guid') },
  },
};

const BANK_CREATED = 'bank.created';

export const TRIGGERED_TYPES: readonly string[] = [
  BANK_CREATED,
  ...Object.entries(ENDINGS).flatMap(([object, endings]) => [
    ...new Set(
      Object.values(endings)
        .flat()
        .map((state) => `${object}.${state}`),
    ),
  ]),
];

/** The calls that cause an event of this type. */
export function triggerFixtures(type: string, bankGuid: string): Fixture[] {
  if (type === BANK_CREATED) return [{ name: 'bank', path: '/api/banks', body: { name: 'Sandbox' } }];
  const [object = '', state = ''] = type.split('.');
  const recipe = RECIPES[object];
  if (!recipe) return [];
  const ending = Object.entries(ENDINGS[object] ?? {}).find(([, states]) => states.includes(state))?.[0];
  const simulate = ending === 'completed' ? {} : { simulate: ending };
  const own = { name: object, path: recipe.path, body: { ...recipe.body, ...simulate } };
  return [...recipe.needs, own].map((fixture) => ({
    ...fixture,
    body: { ...(fixture.body as object), bank_guid: bankGuid },
  }));
}
