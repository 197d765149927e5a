import Type from 'typebox';
import { Guid, nameSchema, strictObject } from '../infrastructure/http/requests/schemas.ts';
import { MAX_NAME_CHARACTERS, NameInput } from './customer-name.ts';
import { Amount, Balance } from './money.ts';

/** The fields of each object type. Every text, number and list has a limit. */
export const MAX_FILES = 20;
/** RFC 5321. */
const MAX_EMAIL_CHARACTERS = 254;
const MAX_URL_CHARACTERS = 1024;

const Name = nameSchema(MAX_NAME_CHARACTERS, 'Ada Lovelace');

export const Asset = Type.String({
  title: 'Asset',
  pattern: '^[A-Z0-9]{2,12}$',
  description: 'Currency code: 2 to 12 uppercase letters or digits',
  example: 'USD',
});

const Address = strictObject(
  {
    street: nameSchema(128, '12 St James Square'),
    street2: Type.Optional(nameSchema(128, 'Floor 2')),
    city: nameSchema(64, 'San Francisco'),
    subdivision: Type.Optional({
      ...nameSchema(64, 'CA'),
      description: 'State, province or region: 1 to 64 characters',
    }),
    postal_code: Type.Optional(nameSchema(16, '94107')),
    country_code: Type.String({
      pattern: '^[A-Z]{2}$',
      description: 'ISO 3166-1, two letters',
      example: 'US',
    }),
  },
  { title: 'Address' },
);

export const customer = strictObject({
  type: Type.Enum(['individual', 'business'], { description: 'individual or business' }),
  name: Type.Optional(NameInput),
  address: Type.Optional(Address),
  email: Type.Optional(
    Type.String({ format: 'email', maxLength: MAX_EMAIL_CHARACTERS, example: 'ada@example.com' }),
  ),
  phone: Type.Optional(
    Type.String({
      pattern: '^\\+[1-9][0-9]{1,14}$',
      description: 'E.164: + and up to 15 digits',
      example: '+14155550100',
    }),
  ),
});

export const account = strictObject({
  type: Type.Enum(['fiat', 'trading', 'reserve', 'storage', 'fee', 'gas'], {
    description: 'fiat, trading, reserve, storage, fee or gas',
  }),
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

/** For examples. */
const A_GUID = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';

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
      ...{ destination_account_guid: A_GUID, external_bank_account_guid: A_GUID },
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

export const depositAddress = strictObject({
  account_guid: Guid,
  asset: Type.Optional({
    ...Asset,
    description: 'The asset of the account, which is also the default',
    example: 'BTC',
  }),
});

export const depositAddressGenerated = {
  address: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Present once the state is created. Addresses of the sandbox cannot receive real assets',
      example: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    }),
  ),
};

export const workflow = strictObject({
  type: Type.Enum(['plaid'], { description: 'plaid' }),
  kind: Type.Enum(['link_token_create', 'link_token_update'], {
    description: 'link_token_create or link_token_update',
  }),
  external_bank_account_guid: Type.Optional({
    ...Guid,
    description: 'Required for link_token_update: the external bank account to update',
  }),
  language: Type.Optional(
    Type.String({ pattern: '^[a-z]{2}$', description: 'ISO 639-1, two letters', example: 'en' }),
  ),
  link_customization_name: Type.Optional(nameSchema(MAX_NAME_CHARACTERS, 'default')),
  redirect_uri: Type.Optional(
    Type.String({
      format: 'uri',
      pattern: '^https://',
      maxLength: MAX_URL_CHARACTERS,
      description: 'HTTPS URL that the person returns to',
      example: 'https://example.com/linked',
    }),
  ),
});

export const workflowGenerated = {
  plaid_link_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Present once the state is completed',
      example: 'link-sandbox-0199e5a4-c1b2-7d3e-8f60-a1b2c3d4e5f6',
    }),
  ),
};
