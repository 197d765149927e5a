import type { Database } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { type Clock, later } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Visible } from '../store.ts';
import { SYMBOLS } from './catalogue.ts';
import { selectPrices, upsertPrice } from './price-store.ts';
import { type Price, sandboxPrices } from './sandbox-prices.ts';

export type Prices = ReturnType<typeof createPrices>;
export type ListedPrice = Price & { environment: EnvironmentName };
type Filters = { symbol?: readonly string[] | undefined; environment?: readonly string[] | undefined };

const ENVIRONMENTS: readonly EnvironmentName[] = ['production', 'sandbox'];
/** A report from a clock that is far ahead would keep out later ones. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** The prices of both environments: computed in sandbox, reported by the platform's core in production. */
export function createPrices({ database, clock }: { database: Database; clock: Clock }) {
  return {
    /** In the order of the catalogue. The environment of the token narrows the list, as in every list. */
    async list(visible: Visible, { symbol, environment }: Filters): Promise<ListedPrice[] | Failure> {
      const unknown = symbol?.some((name) => !isSymbol(name));
      if (unknown) return new Failure('invalid_parameter', `symbol must be one of ${accepted()}`);
      const symbols = symbol && new Set(symbol);
      const wanted = ENVIRONMENTS.filter(
        (name) =>
          (visible.environment ?? name) === name && (environment === undefined || environment.includes(name)),
      );
      const found = await Promise.all(
        wanted.map(async (name) => {
          const prices =
            name === 'sandbox'
              ? sandboxPrices(symbols, clock.now())
              : await selectPrices(database.lists, symbols);
          return prices.map((price) => ({ ...price, environment: name }));
        }),
      );
      const places = new Map(SYMBOLS.map((each, place) => [each.symbol, place]));
      return found.flat().sort((a, b) => (places.get(a.symbol) ?? 0) - (places.get(b.symbol) ?? 0));
    },

    async report(price: Price): Promise<Price | Failure> {
      if (!isSymbol(price.symbol))
        return new Failure('not_found', `There is no such symbol; the symbols are ${accepted()}`);
      if (price.buy < price.sell)
        return new Failure('invalid_parameter', 'buy_price must be at least sell_price');
      if (price.at > later(clock.now(), MAX_CLOCK_DIFFERENCE_MS))
        return new Failure('invalid_parameter', 'timestamp must not be in the future');
      await upsertPrice(database.queries, price);
      const [stored] = await selectPrices(database.queries, new Set([price.symbol]));
      return stored ?? price;
    },
  };
}

function isSymbol(name: string): boolean {
  return SYMBOLS.some(({ symbol }) => symbol === name);
}

function accepted(): string {
  return SYMBOLS.map(({ symbol }) => symbol).join(', ');
}
