export type Action = 'read' | 'write' | 'execute';
export type Resource = { name: string; description: string } & { [Name in Action]?: string };
type Category = { title: string; resources: readonly Resource[] };

export const ACTIONS: readonly { name: Action; label: string; description: string }[] = [
  { name: 'read', label: 'Read', description: 'list and retrieve' },
  { name: 'write', label: 'Write', description: 'update' },
  { name: 'execute', label: 'Execute', description: 'create' },
];

/** An action has its own description where the general one does not fit. */
const CATEGORIES: readonly Category[] = [
  {
    title: 'Customers',
    resources: [
      { name: 'customers', description: 'Your customers' },
      { name: 'identity_verifications', description: 'Identity checks of customers' },
      {
        name: 'files',
        description: 'Documents of customers',
        read: 'list and download files',
        execute: 'upload files',
      },
    ],
  },
  {
    title: 'Money',
    resources: [
      { name: 'accounts', description: 'Balances of customers by asset' },
      {
        name: 'transfers',
        description: 'Movements of money and crypto',
        execute: 'create transfers, which moves money',
      },
      { name: 'external_bank_accounts', description: 'Accounts at other banks' },
      { name: 'deposit_addresses', description: 'Addresses for incoming crypto' },
    ],
  },
  {
    title: 'Trading',
    resources: [
      { name: 'prices', description: 'Current prices of assets' },
      { name: 'quotes', description: 'Price offers for trades' },
      {
        name: 'trades',
        description: 'Purchases and sales of assets',
        execute: 'create trades, which buys and sells',
      },
      { name: 'plans', description: 'Planned transfers between accounts' },
      {
        name: 'executions',
        description: 'Executed plans',
        execute: 'execute plans, which moves money',
      },
      { name: 'workflows', description: 'Processes with several steps' },
    ],
  },
  {
    title: 'Administration',
    resources: [
      { name: 'banks', description: 'Your banks', write: 'rename banks', execute: 'create sandbox banks' },
      { name: 'organizations', description: 'Your Organization' },
      {
        name: 'bank_applications',
        description: 'Bank keys',
        write: 'edit bank keys',
      },
      {
        name: 'organization_applications',
        description: 'Organization keys',
        write: 'edit organization keys',
      },
      {
        name: 'subscription_events',
        description: 'Events and their deliveries',
        execute: 'redeliver events',
      },
    ],
  },
];

/** Resources without a description are listed under Other. */
export function categoriesOf(scopes: readonly string[]): Category[] {
  const names = [...new Set(scopes.map((scope) => scope.split(':', 1)[0] ?? ''))];
  const described = CATEGORIES.flatMap(({ resources }) => resources.map(({ name }) => name));
  const others = names.filter((name) => !described.includes(name)).map((name) => ({ name, description: '' }));
  return [...CATEGORIES, { title: 'Other', resources: others }]
    .map(({ title, resources }) => ({
      title,
      resources: resources.filter(({ name }) => names.includes(name)),
    }))
    .filter(({ resources }) => resources.length > 0);
}

/** "list and retrieve transfers" */
export function describeScope(resource: Resource, action: Action): string {
  const general = ACTIONS.find(({ name }) => name === action)?.description;
  return resource[action] ?? `${general} ${labelOf(resource)}`;
}

export function labelOf({ name }: Resource): string {
  return name.replaceAll('_', ' ');
}
