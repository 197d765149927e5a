import { unwrap } from '../infrastructure/http/errors.ts';
import { answers } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { Prices } from '../objects/market/prices.ts';
import { PriceReport, PriceView, reportedPrice, SymbolParams, viewPrice } from '../objects/market/schema.ts';
import { operatorAccess } from './authentication.ts';

export type PriceDeps = { prices: Prices };

/** Takes the prices of production from the platform's core. Not audited: they change many times a minute. */
export function registerPriceRoutes(scope: HttpServer, { prices }: PriceDeps): void {
  scope.put(
    '/prices/:symbol',
    {
      schema: {
        ...operatorAccess('prices put').documented,
        operationId: 'operatorReportPrice',
        summary: 'Report the price of a symbol in production; idempotent',
        tags: ['Operator: prices'],
        params: SymbolParams,
        body: PriceReport,
        response: answers({ 200: PriceView }, 400, 401, 403, 404, 413, 415),
      },
    },
    async (request) => {
      const price = unwrap(await prices.report(reportedPrice(request.params.symbol, request.body)));
      return viewPrice({ ...price, environment: 'production' });
    },
  );
}
