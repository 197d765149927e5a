import type { Queries } from '../../infrastructure/database/database.ts';
import type { Row } from '../../infrastructure/database/tables.ts';
import type { Price } from './sandbox-prices.ts';

/** Prices belong to the platform, not to a tenant. There is at most one for each symbol of the catalogue. */
export async function selectPrices(
  queries: Queries,
  symbols: ReadonlySet<string> | undefined,
): Promise<Price[]> {
  let query = queries.selectFrom('prices').selectAll();
  if (symbols) query = query.where('symbol', 'in', [...symbols]);
  return (await query.execute()).map(priceOf);
}

/** Does nothing when the stored price is as new. */
export async function upsertPrice(queries: Queries, { symbol, buy, sell, at }: Price): Promise<void> {
  const columns = { buy_price: String(buy), sell_price: String(sell), reported_at: at };
  await queries
    .insertInto('prices')
    .values({ symbol, ...columns })
    .onConflict((conflict) =>
      conflict.column('symbol').doUpdateSet(columns).where('prices.reported_at', '<', at),
    )
    .execute();
}

function priceOf({ symbol, buy_price, sell_price, reported_at }: Row<'prices'>): Price {
  return { symbol, buy: BigInt(buy_price), sell: BigInt(sell_price), at: reported_at };
}
