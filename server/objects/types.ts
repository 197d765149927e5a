import type { TObject } from 'typebox';
import type { Failure } from '../infrastructure/runtime/failure.ts';
import * as details from './details.ts';
import type { Details, Machine } from './machine.ts';
import * as machines from './machines.ts';
import { refuseReserve } from './reserve.ts';

/** One kind of object: all that the store, the routes, the simulator and the operator's feed need to know of it. */
export type ObjectType = {
  /** In events, in the operator's feed and in the table. */
  name: string;
  /** In addresses and scopes. */
  plural: string;
  details: TObject;
  /** Whether one belongs to a customer when a partner creates it; `itself` is the customer. */
  customer: 'required' | 'optional' | 'itself';
  /** What has no states has no machine, and nothing to be told of. */
  machine?: Machine;
  /** Fields that name other objects of the same bank, or of the object's customer, and the kinds that they may be. */
  references?: Readonly<Record<string, readonly string[]>>;
  /** The field that names the plan that it carries out, which has to be completed. It is for the plan's customer. */
  plan?: string;
  /** The field that names files of the customer, which have to be completed. */
  files?: string;
  /** What a schema cannot say; `path` is what the simulator is asked for. */
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
    name: 'trade',
    plural: 'trades',
    details: details.trade,
    customer: 'required',
    machine: machines.trade,
  },
  {
    name: 'transfer',
    plural: 'transfers',
    details: details.transfer,
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

/** In a sentence. */
export function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}

export function article(word: string): string {
  return /^[aei]/.test(word) ? 'an' : 'a';
}
