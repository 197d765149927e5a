import Type from 'typebox';
import { Guid, strictObject } from '../infrastructure/http/requests/schemas.ts';

/** What each kind of object has of its own; every text, number and list in it has a bound. */
const MAX_NAME_CHARACTERS = 128;
const MAX_FILES = 20;

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: '\\S' });

const Asset = Type.String({
  pattern: '^[A-Z0-9]{2,12}$',
  description: 'the code of a currency',
  example: 'USD',
});

/** JSON numbers are exact up to here. */
const MAX_AMOUNT = Number.MAX_SAFE_INTEGER;

const IN_UNITS = { maximum: MAX_AMOUNT, description: 'in the smallest unit of the asset' };
const Amount = Type.Integer({ minimum: 1, ...IN_UNITS });
const Balance = Type.Integer({ minimum: 0, ...IN_UNITS });

export const customer = strictObject({
  type: Type.Enum(['individual', 'business'], { description: 'individual or business' }),
  name: Type.Optional(Name),
});

export const account = strictObject({
  type: Type.Enum(['fiat', 'trading', 'reserve'], { description: 'fiat, trading or reserve' }),
  asset: Asset,
  name: Type.Optional(Name),
  balance: Type.Optional(Balance),
  low_balance: Type.Optional({ ...Amount, description: 'below it the balance approaches the minimum' }),
  minimum_balance: Type.Optional({ ...Amount, description: 'what the balance should not fall below' }),
});

export const trade = strictObject({
  side: Type.Enum(['buy', 'sell'], { description: 'buy or sell' }),
  symbol: Type.String({
    pattern: '^[A-Z0-9]{2,12}-[A-Z0-9]{2,12}$',
    description: 'what is traded, a dash, what for',
    example: 'BTC-USD',
  }),
  amount: Amount,
  receive_amount: Type.Optional(Amount),
  deliver_amount: Type.Optional(Amount),
});

export const transfer = strictObject({
  transfer_type: Type.Enum(['funding', 'book', 'crypto', 'instant_funding']),
  asset: Asset,
  amount: Amount,
  source_account_guid: Type.Optional(Guid),
  destination_account_guid: Type.Optional(Guid),
  external_bank_account_guid: Type.Optional(Guid),
});

export const identityVerification = strictObject({
  type: Type.Enum(['kyc', 'bank_account'], { description: 'kyc or bank_account' }),
  method: Type.Enum(['id_and_selfie', 'document_submission', 'attested', 'account_ownership']),
  file_guids: Type.Optional(
    Type.Array(Guid, {
      maxItems: MAX_FILES,
      uniqueItems: true,
      description: 'completed files of the customer',
    }),
  ),
  external_bank_account_guid: Type.Optional(Guid),
});

export const plan = strictObject({
  source_account_guid: Guid,
  destination_account_guid: Guid,
  asset: Asset,
  amount: Amount,
});

export const execution = strictObject({
  plan_guid: Guid,
  source_account_guid: Type.Optional(Guid),
  destination_account_guid: Type.Optional(Guid),
});

export const externalBankAccount = strictObject({ name: Name, asset: Asset });
