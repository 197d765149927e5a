/** Hints below the inputs keep inputs of a row aligned. */
export const INPUT_ORDER: ('label' | 'input' | 'description' | 'error')[] = [
  'label',
  'input',
  'description',
  'error',
];

export type Values = Record<string, string>;

export type Field = {
  /** As in the API; a part of an object is `address.street`. */
  name: string;
  label: string;
  kind: 'choice' | 'text' | 'integer' | 'symbol' | 'customer' | 'reference' | 'files';
  options?: readonly string[];
  /** The options that the other values allow; the first replaces a value that is not among them. */
  offered?: (values: Values) => readonly string[];
  /** Fields that are not shown are not sent. */
  shownIf?: (values: Values) => boolean;
  /** The list to choose from, for references. */
  resource?: string;
  /** Filters of that list. */
  filters?: Values;
  required: boolean;
  /** Fields of a group appear together under its name. */
  group?: string;
  /** Required if another field of the group has a value. */
  requiredInGroup?: boolean;
  /** The field or group that cannot have values at the same time. */
  insteadOf?: string;
  initial?: string;
  hint?: string;
};

/** Fields in the smallest unit of an asset. */
export const AMOUNTS: ReadonlySet<string> = new Set([
  ...['amount', 'deliver_amount', 'receive_amount', 'fee'],
  ...['balance', 'low_balance', 'minimum_balance'],
]);

export const asset: Field = { name: 'asset', label: 'Asset', kind: 'text', required: true, initial: 'USD' };
export const amount: Field = {
  name: 'amount',
  label: 'Amount',
  kind: 'integer',
  required: true,
  initial: '1000',
};
export const customer: Field = {
  name: 'customer_guid',
  label: 'Customer',
  kind: 'customer',
  required: true,
};
export const source: Field = {
  name: 'source_account_guid',
  label: 'From account',
  kind: 'reference',
  resource: 'accounts',
  required: true,
};
export const destination: Field = { ...source, name: 'destination_account_guid', label: 'To account' };

/** Without accounts a transfer changes no balance. */
export const TRANSFER_ACCOUNTS: readonly Field[] = [
  { ...source, required: false, hint: 'Its balance decreases on completion' },
  { ...destination, required: false, hint: 'Its balance increases on completion' },
];

const NAME_PARTS = 'Name in parts';
const part = (name: string, label: string, rest: Partial<Field> = {}): Field => ({
  ...{ name, label, kind: 'text', required: false, group: 'Address', ...rest },
});

export const PERSONAL_FIELDS: readonly Field[] = [
  {
    name: 'name.full',
    label: 'Full name',
    kind: 'text',
    required: false,
    insteadOf: NAME_PARTS,
    hint: 'Or enter its parts below',
  },
  { name: 'email', label: 'Email', kind: 'text', required: false },
  { name: 'phone', label: 'Phone', kind: 'text', required: false, hint: 'For example +14155550100' },
  part('name.first', 'First name', { group: NAME_PARTS, requiredInGroup: true }),
  part('name.middle', 'Middle name', { group: NAME_PARTS }),
  part('name.last', 'Last name', { group: NAME_PARTS, requiredInGroup: true }),
  part('address.street', 'Street', { requiredInGroup: true }),
  part('address.street2', 'Apartment or floor'),
  part('address.city', 'City', { requiredInGroup: true }),
  part('address.subdivision', 'State, province or region'),
  part('address.postal_code', 'Postal code'),
  part('address.country_code', 'Country code', {
    requiredInGroup: true,
    hint: 'Two letters, for example US',
  }),
];
