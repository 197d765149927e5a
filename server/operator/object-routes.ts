import { unwrap } from '../infrastructure/http/errors.ts';
import { pascalCase } from '../infrastructure/http/openapi/names.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { Feed } from '../objects/feed.ts';
import {
  objectViewSchema,
  type ReportedObject,
  reportedObjectSchema,
  viewObject,
} from '../objects/schema.ts';
import { OBJECT_TYPES, withArticle } from '../objects/types.ts';
import { type OperatorAuthentication, operatorAccess } from './authentication.ts';

export type ObjectDeps = { authentication: OperatorAuthentication; feed: Feed };

/** Takes the reports of the platform's core about its objects, in both environments. */
export function registerObjectRoutes(scope: HttpServer, { authentication, feed }: ObjectDeps): void {
  for (const type of OBJECT_TYPES)
    scope.put(
      `/objects/${type.name}/:guid`,
      {
        schema: {
          ...operatorAccess(`objects put-${type.name.replaceAll('_', '-')}`).documented,
          operationId: `operatorReport${pascalCase(type.name)}`,
          summary: `Report the state of ${withArticle(type.name)}; idempotent`,
          tags: ['Operator: objects'],
          params: GuidParams,
          body: reportedObjectSchema(type),
          response: answers({ 200: objectViewSchema(type) }, 400, 401, 403, 404, 409, 413, 415, 422),
        },
      },
      async (request) => {
        const actor = authentication.actor(request);
        const report = request.body as ReportedObject;
        return viewObject(type, unwrap(await feed.report(actor, type, request.params.guid, report)));
      },
    );
}
