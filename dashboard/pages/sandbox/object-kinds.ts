import {
  amount,
  asset,
  customer,
  destination,
  type Field,
  PERSONAL_FIELDS,
  source,
  TRANSFER_ACCOUNTS,
  type Values,
} from './fields/fields.ts';

export type Kind = {
  path: string;
  label: string;
  fields: readonly Field[];
  /** What can be changed later. */
  editable?: readonly string[];
  /** Final states to choose from, besides the default one. */
  outcomes: readonly string[];
  /** Fields shown in the list. */
  summary: readonly string[];
};

const isTrading = ({ product_type }: Values) => product_type === 'trading';

export const KINDS: readonly Kind[] = [
  {
    path: 'transfers',
    label: 'Transfer',
    fields: [
      {
        name: 'transfer_type',
        label: 'Type',
        kind: 'choice',
        options: ['funding', 'book', 'crypto', 'instant_funding'],
        required: true,
        initial: 'funding',
      },
      asset,
      amount,
      customer,
      ...TRANSFER_ACCOUNTS,
    ],
    outcomes: ['failed', 'holding'],
    summary: ['transfer_type', 'amount'],
  },
  {
    path: 'quotes',
    label: 'Quote',
    fields: [
      {
        name: 'product_type',
        label: 'Product',
        kind: 'choice',
        options: ['trading', 'funding', 'book', 'crypto', 'instant_funding'],
        required: true,
        initial: 'trading',
      },
      {
        name: 'side',
        label: 'Side',
        kind: 'choice',
        options: ['buy', 'sell', 'deposit', 'withdrawal'],
        required: true,
        offered: (values) => (isTrading(values) ? ['buy', 'sell'] : ['deposit', 'withdrawal']),
        initial: 'buy',
      },
      {
        name: 'symbol',
        label: 'Symbol',
        kind: 'symbol',
        required: true,
        shownIf: isTrading,
        initial: 'BTC-USD',
      },
      { ...asset, shownIf: (values) => !isTrading(values) },
      customer,
      {
        name: 'deliver_amount',
        label: 'Amount to deliver',
        kind: 'integer',
        required: false,
        insteadOf: 'receive_amount',
        initial: '100000',
      },
      {
        name: 'receive_amount',
        label: 'Amount to receive',
        kind: 'integer',
        required: false,
        hint: 'Instead of the amount to deliver',
      },
    ],
    outcomes: [],
    summary: ['product_type', 'side', 'symbol', 'asset', 'deliver_amount', 'receive_amount', 'fee'],
  },
  {
    path: 'trades',
    label: 'Trade',
    fields: [
      {
        name: 'side',
        label: 'Side',
        kind: 'choice',
        options: ['buy', 'sell'],
        required: true,
        initial: 'buy',
      },
      { name: 'symbol', label: 'Symbol', kind: 'symbol', required: true, initial: 'BTC-USD' },
      amount,
      customer,
    ],
    outcomes: ['failed', 'cancelled'],
    summary: ['side', 'amount', 'symbol'],
  },
  {
    path: 'customers',
    label: 'Customer',
    fields: [
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: ['individual', 'business'],
        required: true,
        initial: 'individual',
      },
      ...PERSONAL_FIELDS,
    ],
    editable: ['name', 'address', 'email', 'phone', 'labels'],
    outcomes: [],
    summary: ['type', 'name'],
  },
  {
    path: 'accounts',
    label: 'Account',
    fields: [
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: ['fiat', 'trading', 'reserve', 'storage', 'fee', 'gas'],
        required: true,
        initial: 'fiat',
      },
      asset,
      { name: 'name', label: 'Name', kind: 'text', required: false },
      { ...customer, required: false },
      { ...amount, name: 'balance', label: 'Balance', required: false, initial: '' },
      {
        ...amount,
        name: 'low_balance',
        label: 'Low balance',
        required: false,
        initial: '',
        hint: 'Reserve accounts: crossing it creates an event',
      },
      {
        ...amount,
        name: 'minimum_balance',
        label: 'Minimum balance',
        required: false,
        initial: '',
        hint: 'Reserve accounts: crossing it creates an event',
      },
    ],
    editable: ['labels'],
    outcomes: ['below_minimum'],
    summary: ['type', 'asset', 'name', 'balance'],
  },
  {
    path: 'identity_verifications',
    label: 'Identity verification',
    fields: [
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: ['kyc', 'bank_account'],
        required: true,
        initial: 'kyc',
      },
      {
        name: 'method',
        label: 'Method',
        kind: 'choice',
        options: ['id_and_selfie', 'document_submission', 'attested', 'account_ownership'],
        required: true,
        initial: 'id_and_selfie',
      },
      customer,
      {
        name: 'file_guids',
        label: 'Files',
        kind: 'files',
        required: false,
        hint: 'Completed files of the customer',
      },
    ],
    outcomes: ['expired'],
    summary: ['type', 'method'],
  },
  {
    path: 'plans',
    label: 'Plan',
    fields: [source, destination, asset, amount],
    outcomes: ['failed'],
    summary: ['amount'],
  },
  {
    path: 'executions',
    label: 'Execution',
    fields: [{ name: 'plan_guid', label: 'Plan', kind: 'reference', resource: 'plans', required: true }],
    outcomes: ['failed'],
    summary: [],
  },
  {
    path: 'external_bank_accounts',
    label: 'External bank account',
    fields: [{ name: 'name', label: 'Name', kind: 'text', required: true }, asset, customer],
    outcomes: ['failed', 'expired'],
    summary: ['name', 'asset'],
  },
  {
    path: 'deposit_addresses',
    label: 'Deposit address',
    fields: [{ ...source, name: 'account_guid', label: 'Account' }],
    outcomes: [],
    summary: ['asset', 'address'],
  },
  {
    path: 'workflows',
    label: 'Workflow',
    fields: [
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: ['plaid'],
        required: true,
        initial: 'plaid',
      },
      {
        name: 'kind',
        label: 'Kind',
        kind: 'choice',
        options: ['link_token_create', 'link_token_update'],
        required: true,
        initial: 'link_token_create',
      },
      { ...customer, required: false },
      {
        name: 'external_bank_account_guid',
        label: 'External bank account',
        kind: 'reference',
        resource: 'external_bank_accounts',
        required: true,
        shownIf: ({ kind }) => kind === 'link_token_update',
      },
    ],
    outcomes: ['failed'],
    summary: ['type', 'kind', 'plaid_link_token'],
  },
];
