import { strictObject } from './schemas.ts';
import type { HttpServer } from './server.ts';

/** A route that takes no query parameters refuses any, like every other unknown field (contract, section 1). */
export function refuseUnknownQuery(scope: HttpServer): void {
  scope.addHook('onRoute', ({ schema }) => {
    if (schema && !schema.querystring) schema.querystring = strictObject({});
  });
}
