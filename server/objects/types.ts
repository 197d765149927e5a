import Type, { type TObject, type TProperties } from 'typebox';
import { Failure, type FailureCode } from '../infrastructure/runtime/failure.ts';
import { CustomerName, refuseName, showName, storeName } from './customer-name.ts';
import { refuseFiat, sandboxAddress } from './deposit-address.ts';
import * as details from './details.ts';
import type { Details, Machine } from './machine.ts';
import * as machines from './machines.ts';
import * as fromQuote from './market/from-quote.ts';
import * as quotes from './market/quotes.ts';
import { refuseReserve } from './reserve.ts';

/** One object type, as data for the store, the routes, the simulator and the feed. */
export type ObjectType = {
  /** In events, in the operator API and in the table. */
  name: string;
  /** In paths and scopes. */
  plural: string;
  details: TObject;
  /** The fields of a creation by a partner, where they differ from the details. */
  input?: TObject;
  /** The details of a new object from these fields. */
  complete?(input: Details, now: Date): Details | Failure;
  /** How `quote_guid` replaces fields of a creation. */
  fromQuote?: fromQuote.FromQuote;
  /** Whether a partner must name a customer at creation; `itself` is the customer type. */
  customer: 'required' | 'optional' | 'itself';
  /** Types without states have no machine and no events. */
  machine?: Machine;
  /** Fields that reference objects of the same bank or customer, with the allowed types. */
  references?: Readonly<Record<string, readonly string[]>>;
  /** The referenced object that a new object gets its customer from. */
  owner?: Owner;
  /** The field with files of the customer, which must be completed. */
  files?: string;
  /** Rules that a schema cannot express; `path` is the requested simulation. */
  refuse?(details: Details, path: readonly string[]): Failure | undefined;
  /** Fields that the service adds when the object reaches a state; the core reports them. */
  generated?: { properties: TProperties; state: string; make(guid: string, details: Details): Details };
  /** Fields that are stored or answered in another form than they are given. */
  forms?: { view: TProperties; store(details: Details): Details; show(details: Details): Details };
  /** Fields that a partner can change: details, `labels`, or `state` by a refresh. */
  changeable?: readonly string[];
  /** Fields that change without an edit, by the simulator or the platform; `If-Match` does not compare them. */
  activity?: readonly string[];
};

type Owner = {
  field: string;
  type: string;
  /** Fields that both have: by default those of the owner, and never different. */
  shares?: readonly string[];
  /** Rules for the details of the owner. */
  refuse?(owner: Details): Failure | undefined;
  /** The failure for an owner that is not completed. */
  unlessCompleted?: FailureCode;
};

const anyAccount = ['account', 'external_bank_account'];

export const OBJECT_TYPES: readonly ObjectType[] = [
  {
    name: 'customer',
    plural: 'customers',
    details: details.customer,
    customer: 'itself',
    refuse: refuseName,
    forms: { view: { name: Type.Optional(CustomerName) }, store: storeName, show: showName },
    changeable: ['name', 'address', 'email', 'phone', 'labels'],
  },
  {
    name: 'account',
    plural: 'accounts',
    details: details.account,
    customer: 'optional',
    machine: machines.account,
    refuse: refuseReserve,
    changeable: ['labels'],
    activity: ['balance', 'state', 'updated_at'],
  },
  {
    name: 'quote',
    plural: 'quotes',
    details: quotes.quote,
    input: quotes.newQuote,
    complete: quotes.completeQuote,
    customer: 'required',
    refuse: quotes.refuseTerms,
    forms: quotes.timeForms,
  },
  {
    name: 'trade',
    plural: 'trades',
    details: details.trade,
    input: details.newTrade,
    fromQuote: fromQuote.trade,
    customer: 'required',
    machine: machines.trade,
  },
  {
    name: 'transfer',
    plural: 'transfers',
    details: details.transfer,
    input: details.newTransfer,
    fromQuote: fromQuote.transfer,
    customer: 'required',
    machine: machines.transfer,
    references: {
      source_account_guid: ['account'],
      destination_account_guid: ['account'],
      external_bank_account_guid: ['external_bank_account'],
    },
  },
  {
    name: 'identity_verification',
    plural: 'identity_verifications',
    details: details.identityVerification,
    customer: 'required',
    machine: machines.identityVerification,
    references: { external_bank_account_guid: ['external_bank_account'] },
    files: 'file_guids',
  },
  {
    name: 'plan',
    plural: 'plans',
    details: details.plan,
    customer: 'optional',
    machine: machines.plan,
    references: { source_account_guid: anyAccount, destination_account_guid: anyAccount },
  },
  {
    name: 'execution',
    plural: 'executions',
    details: details.execution,
    customer: 'optional',
    machine: machines.execution,
    owner: { field: 'plan_guid', type: 'plan', unlessCompleted: 'plan_not_completed' },
    references: {
      plan_guid: ['plan'],
      source_account_guid: anyAccount,
      destination_account_guid: anyAccount,
    },
  },
  {
    name: 'external_bank_account',
    plural: 'external_bank_accounts',
    details: details.externalBankAccount,
    customer: 'required',
    machine: machines.externalBankAccount,
    changeable: ['state'],
  },
  {
    name: 'deposit_address',
    plural: 'deposit_addresses',
    details: details.depositAddress,
    customer: 'optional',
    machine: machines.depositAddress,
    owner: { field: 'account_guid', type: 'account', shares: ['asset'], refuse: refuseFiat },
    references: { account_guid: ['account'] },
    generated: {
      properties: details.depositAddressGenerated,
      state: 'created',
      make: (guid, { asset }) => ({ address: sandboxAddress(guid, String(asset)) }),
    },
  },
  {
    name: 'workflow',
    plural: 'workflows',
    details: details.workflow,
    customer: 'optional',
    machine: machines.workflow,
    owner: { field: 'external_bank_account_guid', type: 'external_bank_account' },
    references: { external_bank_account_guid: ['external_bank_account'] },
    refuse: refuseWorkflow,
    generated: {
      properties: details.workflowGenerated,
      state: 'completed',
      make: (guid) => ({ plaid_link_token: `link-sandbox-${hyphenated(guid)}` }),
    },
  },
];

function refuseWorkflow({ kind, external_bank_account_guid, redirect_uri }: Details): Failure | undefined {
  if (kind === 'link_token_update' && external_bank_account_guid === undefined)
    return new Failure('missing_parameter', 'external_bank_account_guid is required for link_token_update');
  // The pattern of the schema also accepts URLs without a host.
  if (redirect_uri !== undefined && !URL.canParse(String(redirect_uri)))
    return new Failure('invalid_parameter', 'redirect_uri must be an HTTPS URL');
  return undefined;
}

function hyphenated(guid: string): string {
  return guid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function isDeleted({ type, state }: { type: string; state: string | null }): boolean {
  const { machine } = OBJECT_TYPES.find(({ name }) => name === type) ?? {};
  return machine?.deletion?.some((deleted) => deleted === state) ?? false;
}

/** For messages. */
export function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}

export function withArticle(name: string): string {
  return `${/^[aei]/.test(name) ? 'an' : 'a'} ${wordsOf(name)}`;
}

/** The guids of the files that an object refers to. */
export function filesIn({ files }: ObjectType, details: Details): readonly string[] {
  return files === undefined ? [] : ((details[files] ?? []) as string[]);
}
