import { answers } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { requires } from '../tokens/access/access.ts';
import { LookupQuery, LookupView } from './schema.ts';
import type { Lookup } from './service.ts';

/** For the search of the dashboard. */
export function registerLookup(api: HttpServer, { lookup }: { lookup: Lookup }): void {
  const read = requires(['user'], 'banks:read');
  api.get(
    '/lookup',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'lookUp',
        summary: 'Find the object of an identifier, in both environments',
        tags: ['Team'],
        querystring: LookupQuery,
        response: answers({ 200: LookupView }, 400, 401, 403),
      },
    },
    async ({ caller, query }) => ({ objects: await lookup.find(caller, query.q ?? '') }),
  );
}
