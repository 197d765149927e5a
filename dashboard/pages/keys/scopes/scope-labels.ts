/** What scopes are about, in the words of those who choose them. */
export type Action = 'read' | 'write' | 'execute';
export type Resource = { name: string; about: string } & { [Name in Action]?: string };
type Category = { title: string; resources: readonly Resource[] };

export const ACTIONS: readonly { name: Action; label: string; meaning: string }[] = [
  { name: 'read', label: 'Read', meaning: 'list and retrieve' },
  { name: 'write', label: 'Write', meaning: 'update' },
  { name: 'execute', label: 'Execute', meaning: 'create' },
];

/** An action is spelled out where it is more than its general meaning, or another thing. */
const CATEGORIES: readonly Category[] = [
  {
    title: 'Customers',
    resources: [
      { name: 'customers', about: 'Who banks with you' },
      { name: 'identity_verifications', about: 'Checks of who they are' },
      { name: 'files', about: 'Their documents', read: 'list and download files', execute: 'upload files' },
    ],
  },
  {
    title: 'Money',
    resources: [
      { name: 'accounts', about: 'What each customer has, by asset' },
      {
        name: 'transfers',
        about: 'Money in, out and between accounts',
        execute: 'create transfers, which moves money',
      },
      { name: 'external_bank_accounts', about: 'Accounts at other banks' },
      { name: 'deposit_addresses', about: 'Addresses that crypto is sent to' },
    ],
  },
  {
    title: 'Trading',
    resources: [
      { name: 'prices', about: 'What assets cost' },
      { name: 'quotes', about: 'Prices offered for a trade' },
      { name: 'trades', about: 'Buying and selling', execute: 'create trades, which buys and sells' },
      { name: 'plans', about: 'Movements between accounts, worked out beforehand' },
      {
        name: 'executions',
        about: 'Plans that are carried out',
        execute: 'carry out plans, which moves money',
      },
      { name: 'workflows', about: 'What takes several steps' },
    ],
  },
  {
    title: 'Administration',
    resources: [
      { name: 'banks', about: 'Your banks', write: 'rename banks', execute: 'create sandbox banks' },
      { name: 'organizations', about: 'Your Organization itself' },
      {
        name: 'bank_applications',
        about: 'Keys of banks',
        write: 'change names, scopes and addresses of bank keys',
      },
      {
        name: 'organization_applications',
        about: 'Keys of the Organization',
        write: 'change names, scopes and addresses of organization keys',
      },
      {
        name: 'subscription_events',
        about: 'Events and their deliveries',
        execute: 'send events again',
      },
    ],
  },
];

/** The categories of the scopes that can be chosen; whatever nobody has put into words yet stands at the end. */
export function categoriesOf(scopes: readonly string[]): Category[] {
  const names = [...new Set(scopes.map((scope) => scope.split(':', 1)[0] ?? ''))];
  const described = CATEGORIES.flatMap(({ resources }) => resources.map(({ name }) => name));
  const others = names.filter((name) => !described.includes(name)).map((name) => ({ name, about: '' }));
  return [...CATEGORIES, { title: 'Other', resources: others }]
    .map(({ title, resources }) => ({
      title,
      resources: resources.filter(({ name }) => names.includes(name)),
    }))
    .filter(({ resources }) => resources.length > 0);
}

/** "list and retrieve transfers": what a token with this scope alone can do. */
export function meaningOf(resource: Resource, action: Action): string {
  const general = ACTIONS.find(({ name }) => name === action)?.meaning;
  return resource[action] ?? `${general} ${labelOf(resource)}`;
}

export function labelOf({ name }: Resource): string {
  return name.replaceAll('_', ' ');
}
