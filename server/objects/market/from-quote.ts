import type { Queries } from '../../infrastructure/database/database.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Details } from '../machine.ts';
import { type ObjectRow, selectObject, type Visible } from '../store.ts';
import { isQuoteUsed } from './quote-store.ts';
import { TRADING, timeForms } from './quotes.ts';

/** How an object takes its fields from a quote. */
export type FromQuote = {
  product: 'trading' | 'transfer';
  /** The fields that are required without a quote. */
  required: readonly string[];
  /** The other fields of a creation that a quote determines. */
  optional: readonly string[];
  take(quote: Details): Details;
};

const amountsOf = ({ deliver_amount, receive_amount, fee }: Details) => ({
  deliver_amount,
  receive_amount,
  fee,
});

export const trade: FromQuote = {
  product: 'trading',
  required: ['side', 'symbol', 'amount'],
  optional: ['receive_amount', 'deliver_amount'],
  take: (quote) => ({
    side: quote.side,
    symbol: quote.symbol,
    // In the traded asset, as in a trade without a quote.
    amount: quote.side === 'buy' ? quote.receive_amount : quote.deliver_amount,
    ...amountsOf(quote),
  }),
};

export const transfer: FromQuote = {
  product: 'transfer',
  required: ['transfer_type', 'asset', 'amount'],
  optional: [],
  take: (quote) => ({
    transfer_type: quote.product_type,
    asset: quote.asset,
    side: quote.side,
    amount: quote.deliver_amount,
    ...amountsOf(quote),
  }),
};

/** The quote that a creation refers to; undefined without `quote_guid`. */
export async function findQuote(
  queries: Queries,
  inBank: Visible,
  { product, required, optional }: FromQuote,
  { quote_guid: guid, ...given }: Details,
  now: Date,
): Promise<ObjectRow | undefined | Failure> {
  if (guid === undefined) return undefined;
  const determined = [...required, ...optional].find((field) => field in given);
  if (determined)
    return new Failure(
      'invalid_parameter',
      `${determined} cannot be given with quote_guid, which determines it`,
    );
  const quote = await selectObject(queries, inBank, 'quote', String(guid));
  if (!quote) return new Failure('no_object', 'quote_guid must be the guid of a quote of this bank');
  const { product_type, expires_at } = timeForms.show(quote.details);
  if ((product_type === TRADING ? 'trading' : 'transfer') !== product)
    return new Failure(
      'no_object',
      `quote_guid must be the guid of a ${product} quote; the product_type of this quote is ${product_type}`,
    );
  if (now < new Date(String(expires_at))) return quote;
  return (await isQuoteUsed(queries, quote.organization_guid, quote.guid))
    ? quoteUsed()
    : new Failure('quote_expired', `The quote expired at ${expires_at}; create another`);
}

export function quoteUsed(): Failure {
  return new Failure('quote_used', 'The quote was used already; create another');
}
