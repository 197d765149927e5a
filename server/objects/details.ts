import Type from 'typebox';
import { Guid, nameSchema, strictObject } from '../infrastructure/http/requests/schemas.ts';
import { Amount, Balance } from './money.ts';

/** The fields of each object type. Every text, number and list has a limit. */
const MAX_NAME_CHARACTERS = 128;
const MAX_FILES = 20;

const Name = nameSchema(MAX_NAME_CHARACTERS, 'Ada Lovelace');

export const Asset = Type.String({
  title: 'Asset',
  pattern: '^[A-Z0-9]{2,12}$',
  description: 'Currency code: 2 to 12 uppercase letters or digits',
  example: 'USD',
});

export const customer = strictObject({
  type: Type.Enum(['individual', 'business'], { description: 'individual or business' }),
  name: Type.Optional(Name),
});

export const account = strictObject({
  type: Type.Enum(['fiat', 'trading', 'reserve'], { description: 'fiat, trading or reserve' }),
  asset: Asset,
  name: Type.Optional(Name),
  balance: Type.Optional(Balance),
  low_balance: Type.Optional({
    ...Amount,
    description: 'A balance below this amount is low',
    example: 100_000,
  }),
  minimum_balance: Type.Optional({
    ...Amount,
    description: 'The balance should not fall below this amount',
    example: 50_000,
  }),
});

export const TradedSymbol = Type.String({
  title: 'TradingSymbol',
  pattern: '^[A-Z0-9]{2,12}-[A-Z0-9]{2,12}$',
  description: 'The traded asset and the asset that pays for it, separated by a dash',
  example: 'BTC-USD',
});

const fee = Type.Optional({ ...Balance, description: 'The fee of the quote', example: 1_250 });
const quote_guid = Type.Optional({
  ...Guid,
  description: 'A quote that was not used yet and has not expired, instead of the fields that it determines',
});

export const newTrade = strictObject(
  {
    side: Type.Enum(['buy', 'sell'], { description: 'buy or sell' }),
    symbol: TradedSymbol,
    amount: { ...Amount, description: 'In the smallest unit of the traded asset' },
    receive_amount: Type.Optional(Amount),
    deliver_amount: Type.Optional(Amount),
    quote_guid,
  },
  { example: { side: 'buy', symbol: 'BTC-USD', amount: 250_000 } },
);
export const trade = strictObject({ ...newTrade.properties, fee });

export const TRANSFER_TYPES = ['funding', 'book', 'crypto', 'instant_funding'] as const;

export const newTransfer = strictObject(
  {
    transfer_type: Type.Enum([...TRANSFER_TYPES], {
      description: 'funding, book, crypto or instant_funding',
    }),
    asset: Asset,
    amount: Amount,
    source_account_guid: Type.Optional(Guid),
    destination_account_guid: Type.Optional(Guid),
    external_bank_account_guid: Type.Optional(Guid),
    quote_guid,
  },
  {
    example: {
      ...{ transfer_type: 'funding', asset: 'USD', amount: 250_000 },
      ...{ destination_account_guid: Guid.example, external_bank_account_guid: Guid.example },
    },
  },
);
export const transfer = strictObject({
  ...newTransfer.properties,
  side: Type.Optional(
    Type.Enum(['deposit', 'withdrawal'], { description: 'The side of the quote: deposit or withdrawal' }),
  ),
  receive_amount: Type.Optional(Amount),
  deliver_amount: Type.Optional(Amount),
  fee,
});

export const identityVerification = strictObject({
  type: Type.Enum(['kyc', 'bank_account'], { description: 'kyc or bank_account' }),
  method: Type.Enum(['id_and_selfie', 'document_submission', 'attested', 'account_ownership'], {
    description: 'id_and_selfie, document_submission, attested or account_ownership',
  }),
  file_guids: Type.Optional(
    Type.Array(Guid, {
      maxItems: MAX_FILES,
      uniqueItems: true,
      description: `At most ${MAX_FILES} completed files of the customer`,
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
