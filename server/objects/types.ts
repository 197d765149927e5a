import type { TObject } from 'typebox';
import type { Failure } from '../infrastructure/runtime/failure.ts';
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
  /** The field with the plan of an execution. The plan must be completed; the execution belongs to its customer. */
  plan?: string;
  /** The field with files of the customer, which must be completed. */
  files?: string;
  /** Rules that a schema cannot express; `path` is the requested simulation. */
  refuse?(details: Details, path: readonly string[]): Failure | undefined;
};

const anyAccount = ['account', 'external_bank_account'];

export const OBJECT_TYPES: readonly ObjectType[] = [
  { name: 'customer', plural: 'customers', details: details.customer, customer: 'itself' },
  {
    name: 'account',
    plural: 'accounts',
    details: details.account,
    customer: 'optional',
    machine: machines.account,
    refuse: refuseReserve,
  },
  {
    name: 'quote',
    plural: 'quotes',
    details: quotes.quote,
    input: quotes.newQuote,
    complete: quotes.completeQuote,
    customer: 'required',
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
    plan: 'plan_guid',
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
  },
];

/** For messages. */
export function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}

export function withArticle(name: string): string {
  return `${/^[aei]/.test(name) ? 'an' : 'a'} ${wordsOf(name)}`;
}
