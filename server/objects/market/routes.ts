import { environmentsFilter, textsFilter } from '../../infrastructure/http/requests/filters.ts';
import { registerShortList } from '../../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { requires } from '../../tokens/access/access.ts';
import { ASSETS, type Asset, SYMBOLS, type TradingSymbol } from './catalogue.ts';
import type { Prices } from './prices.ts';
import { AssetView, PriceView, SymbolView, viewPrice } from './schema.ts';

/** Any token with `prices:read` sees the catalogue; a price belongs to an environment. */
export function registerMarket(api: HttpServer, { prices }: { prices: Prices }): void {
  const access = requires(['organization', 'bank', 'customer', 'user'], 'prices:read');
  const tags = ['Prices'];

  registerShortList(api, '/assets', {
    ...{ access, tags, operationId: 'listAssets', summary: 'List the assets and their decimals' },
    ...{ filters: {}, item: AssetView, view: (asset: Asset) => asset },
    list: async () => [...ASSETS],
  });

  registerShortList(api, '/symbols', {
    ...{ access, tags, operationId: 'listSymbols', summary: 'List the symbols that can be traded' },
    ...{ filters: {}, item: SymbolView, view: (symbol: TradingSymbol) => symbol },
    list: async () => [...SYMBOLS],
  });

  registerShortList(api, '/prices', {
    ...{ access, tags, operationId: 'listPrices', summary: 'List the current prices of symbols' },
    filters: { symbol: textsFilter('A symbol, for example BTC-USD'), environment: environmentsFilter },
    ...{ item: PriceView, view: viewPrice },
    list: ({ caller }, filters) => prices.list(caller, filters),
  });
}
